// Bundles the workflows for a test run. Projects are set up one by one; later ones inherit the value.

import type { TestProject } from 'vitest/node';
import { bundleWorkflows } from '../../src/worker/bundle.js';
import './provided.js';

export async function setup(project: TestProject): Promise<void> {
  if ('bundlePath' in project.getProvidedContext()) return;
  project.vitest.provide('bundlePath', await bundleWorkflows());
}
