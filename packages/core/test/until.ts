/** Lets the event loop turn until `condition` holds, and does `meanwhile` in every turn. */
export async function until(condition: () => boolean, what = 'the condition', meanwhile: () => void = () => undefined): Promise<void> {
  for (let turn = 0; turn < 200_000; turn++) {
    if (condition()) return;
    meanwhile();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error(`The event loop turned 200,000 times without ${what}.`);
}
