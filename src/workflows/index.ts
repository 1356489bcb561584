// Exactly what a worker registers.

export { agent } from './agent.js';
