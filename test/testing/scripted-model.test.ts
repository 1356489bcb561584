import { afterEach, describe, expect, test } from 'vitest';
import { chunk, reply, startScriptedModel, step } from '../../src/testing/scripted-model.js';
import type { ScriptedModel } from '../../src/testing/scripted-model.js';

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close({ expectFaults: true });
  model = undefined;
});

function ask({ baseURL }: ScriptedModel, content = 'hello', signal?: AbortSignal) {
  return fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    ...(signal && { signal }),
  });
}

describe('startScriptedModel', () => {
  test('answers each request with the next reply and records what it was asked', async () => {
    model = await startScriptedModel([reply.text('one'), reply.status(503, 'busy')]);
    expect(await (await ask(model, 'first')).text()).toContain('"content":"one"');
    expect((await ask(model, 'second')).status).toBe(503);
    expect(model.remaining).toBe(0);
    expect(model.requests.map(({ body }) => body.messages[0]?.content)).toEqual([
      'first',
      'second',
    ]);
    expect(await model.requests[0]?.ended).toBe('answered');
    await model.close();
    model = undefined;
  });

  test('a script that runs out is a loud fault', async () => {
    model = await startScriptedModel([]);
    const response = await ask(model);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('The script has run out: request 0 has no reply.');
    expect(model.faults).toHaveLength(1);
    await expect(model.close()).rejects.toThrow('The script has run out');
    model = undefined;
  });

  test('an unknown path, an unreadable body and a throwing reply function are faults', async () => {
    model = await startScriptedModel(() => {
      throw new Error('oops');
    });
    await fetch(`${model.baseURL}/models`);
    await fetch(`${model.baseURL}/chat/completions`, { method: 'POST', body: 'x' });
    await ask(model);
    expect(model.faults).toEqual([
      'The scripted model has no GET /v1/models.',
      'Unreadable request body: x',
      'The reply function threw at request 0: Error: oops',
    ]);
  });

  test('a function drives the script by the conversation', async () => {
    model = await startScriptedModel(({ messages }, index) =>
      reply.text(`${index}: ${String(messages[0]?.content)}`),
    );
    await ask(model, 'a');
    expect(await (await ask(model, 'b')).text()).toContain('"content":"1: b"');
  });

  test('replies can be added, and requests awaited', async () => {
    model = await startScriptedModel([]);
    const second = model.request(1);
    model.add(reply.text('a'), reply.text('b'));
    await ask(model, 'x');
    await ask(model, 'y');
    expect((await second).body.messages[0]?.content).toBe('y');
    expect(await model.request(0)).toBe(model.requests[0]);
  });

  test('a cut destroys the socket after what was sent', async () => {
    model = await startScriptedModel([reply.raw([chunk.text('half'), step.cut]), reply.cut()]);
    const response = await ask(model);
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('half');
    await expect(reader.read()).rejects.toBeInstanceOf(TypeError);
    expect(await model.requests[0]?.ended).toBe('cut');
    await expect(ask(model)).rejects.toBeInstanceOf(TypeError);
  });

  test.each([
    ['before the headers', reply.hang()],
    ['in mid-stream', reply.raw([chunk.text('a'), step.hang])],
    ['in a wait', reply.raw([step.wait(60_000)])],
    ['in a stream that never ends', reply.endless('a', 1)],
    ['at a gate that never opens', reply.raw([step.until(new Promise(() => {}))])],
  ])('a client that leaves %s is seen to leave', async (_where, scripted) => {
    model = await startScriptedModel([scripted]);
    const leaving = new AbortController();
    const asking = ask(model, 'x', leaving.signal).then((response) => response.text());
    asking.catch(() => {});
    const request = await model.request(0);
    expect(request.leftAt).toBeUndefined();
    leaving.abort();
    expect(await request.ended).toBe('left');
    expect(request.leftAt).toBeGreaterThan(request.at);
  });
});
