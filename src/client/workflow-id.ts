// Short ids that people can read aloud and type.

import { randomInt } from 'node:crypto';

const adjectives =
  'able bold brave bright brisk calm clear clever cool crisp deep eager early fair fast fine firm free fresh gentle glad good green happy keen kind light lively lucky merry mild neat nimble noble open plain polite proud quick quiet ready rich round sharp shiny smart smooth snug solid steady still sunny swift tall tidy true vivid warm wide wild wise young'.split(
    ' ',
  );
const nouns =
  'acorn anchor arrow aspen badger beacon birch bridge brook canyon cedar cloud comet coral crane delta dune eagle ember falcon fern field finch fjord forest fox garden glacier grove harbor hawk heron hill island jay lagoon lake lantern lark maple meadow moon moss oak ocean orchid otter owl peak pebble pine prairie rain raven reef river robin sail spark spruce star stone stream summit thistle tide valley willow wren'.split(
    ' ',
  );
// Without letters and digits that are easily taken for one another.
const characters = 'abcdefghjkmnpqrstuvwxyz23456789';

/** e.g. `calm-otter-7k2m`. */
export function proposeWorkflowId(): string {
  const tail = Array.from({ length: 4 }, () => pick(characters)).join('');
  return `${pick(adjectives)}-${pick(nouns)}-${tail}`;
}

function pick(choices: ArrayLike<string>): string {
  return choices[randomInt(choices.length)] ?? '';
}
