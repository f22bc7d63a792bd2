const INTERRUPTED = 130;

/** Steps that are undone at the end, the last first, even after Ctrl+C. */
export class CleanUp {
  steps = [];

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'])
      process.once(signal, () => void this.run().finally(() => process.exit(INTERRUPTED)));
  }

  add(step) {
    this.steps.push(step);
  }

  async run() {
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      try {
        await step();
      } catch (error) {
        console.error(`Not cleaned up: ${error.message}`);
      }
    }
  }
}
