// Workspaces of a config: directories that exist.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Workspace } from '../activities/definitions.js';
import { defaultWorkspaceName } from '../protocol/session.js';
import type { WorkspaceConfig } from './user-config.js';

export interface WorkspaceBases {
  readonly directory: string;
  readonly workingDirectory?: string;
}

export function resolveWorkspaces(
  workspaces: { readonly [name: string]: WorkspaceConfig } | undefined,
  { directory, workingDirectory = directory }: WorkspaceBases,
  problems: string[],
): { readonly [name: string]: Workspace } {
  const configured =
    workspaces === undefined || Object.keys(workspaces).length === 0
      ? { [defaultWorkspaceName]: { root: workingDirectory } }
      : workspaces;
  return Object.fromEntries(
    Object.entries(configured).map(([name, workspace]) => {
      const root = resolve(directory, workspace.root);
      if (!isDirectory(root)) {
        problems.push(
          `workspaces.${name}.root is ${root}, which is no directory; create it or correct the path.`,
        );
      }
      return [name, { name, root }];
    }),
  );
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
