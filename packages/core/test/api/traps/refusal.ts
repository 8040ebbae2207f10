/** Message of the error that `act` throws. */
export function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was refused';
}
