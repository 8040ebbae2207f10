/** Wait of the engine for a body that will not go on in this process: its promises never settle. */
export class BodyRelease {
  #resolvers: PromiseWithResolvers<void> | undefined;

  /**
   * Resolves when a child has released the run.
   * @throws the error of `refuse`
   */
  get promise(): Promise<void> {
    return this.#wait().promise;
  }

  #wait(): PromiseWithResolvers<void> {
    this.#resolvers ??= Promise.withResolvers<void>();
    return this.#resolvers;
  }

  /**
   * Returns the promise that a body gets when its child has released the run. It never settles, and
   * the engine stops waiting for the body.
   */
  neverReturn(): Promise<never> {
    this.#wait().resolve();
    return new Promise<never>(() => undefined);
  }

  /** Ends the body without recording anything: the engine gets the error instead of its end. */
  refuse(error: Error): void {
    const { promise, reject } = this.#wait();
    promise.catch(() => undefined);
    reject(error);
  }
}
