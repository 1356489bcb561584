// Workspaces by name: which task queue serves one, and what a name may be.

import { defaultWorkspaceName } from './session.js';

/** Part of a task queue's name and of file paths people write: no separators, nothing to escape. */
const namePattern = /^\w[\w.-]{0,63}$/;

/** What is wrong with a workspace's name; undefined when it is one. */
export function workspaceNameProblem(name: string): string | undefined {
  return namePattern.test(name)
    ? undefined
    : 'is no usable name: letters, digits and . _ - only, at most 64';
}

/**
 * The task queue that a workspace's tool calls go to. `default` is served on the main task queue; any other
 * has one of its own, which only workers poll whose config declares it.
 */
export function workspaceTaskQueue(taskQueue: string, workspace: string): string {
  return workspace === defaultWorkspaceName ? taskQueue : `${taskQueue}/workspace/${workspace}`;
}
