import { InvalidRuntimeError } from '../frame/errors.ts';

/** Address of the page that tokens open, for the links of an app and of all its tenants. */
export class ApprovalLinks {
  readonly #given: string | undefined;
  #served: string | undefined;

  /** @param given address that the app names itself */
  constructor(given: string | undefined) {
    this.#given = given;
  }

  /** Sets the address of the page that a server of this process shows. */
  serveAt(address: string): void {
    this.#served = address;
  }

  /** @throws InvalidRuntimeError when there is none */
  address(): string {
    const address = this.#given ?? this.#served;
    if (address !== undefined) return address;
    throw new InvalidRuntimeError({
      refused: 'No link can be made',
      reason:
        'the address of the page is not known: give `approvals.url` to the runtime, or ' +
        '`publicUrl` to its server',
    });
  }

  /** The link of a token. */
  at(address: string, token: string): string {
    return `${address.replace(/\/$/, '')}/${token}`;
  }
}
