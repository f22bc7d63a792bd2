import { PassThrough } from 'node:stream';
import { ask, commandOf } from '../../scripts/resource/ask';
import type { Wish } from '../../scripts/resource/plan';
import { existingResources } from '../../scripts/resource/project';

/** A part of a question, and the keys that answer it. */
export type Answer = [question: string, keys: string];

/** Answers the questions of the command as they appear, and prints the command that says the same. */
async function answering([wish, answers]: [Partial<Wish>, Answer[]]): Promise<void> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  // Each question ends its output, which a terminal doesn't heed.
  output.end = () => output;
  let [shown, next] = ['', 0];
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    const [question, keys] = answers[next] ?? [];
    if (question === undefined || !shown.includes(question)) return;
    [shown, next] = ['', next + 1];
    // After the question has begun to listen.
    setImmediate(() => input.write(keys));
  });
  const whole = await ask(wish, existingResources(), { input, output });
  if (next < answers.length) throw new Error(`Never asked: ${answers[next][0]}`);
  console.log(commandOf(whole));
}

answering(JSON.parse(process.argv[2]) as [Partial<Wish>, Answer[]]).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
