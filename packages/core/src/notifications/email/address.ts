/** Most characters of an address, by RFC 5321. */
const longestAddress = 254;
const longestLocalPart = 64;
// No quoted local parts and no addresses of machines: mail to people has neither, and both are ways
// to smuggle something else in.
const localPart = String.raw`(?!\.)(?:[^\s"(),:;<>@[\\\]\p{C}.]|\.(?![.@]))+`;
const domain = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]|\.(?=[\p{L}\p{N}]))*`;
const address = new RegExp(`^${localPart}@${domain}$`, 'u');
const named = /^(?<name>[^<>"]*?)\s*<(?<address>[^<>]*)>$/;

/** True for the address of one mailbox, without a name. */
export function isAddress(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= longestAddress &&
    value.indexOf('@') <= longestLocalPart &&
    address.test(value)
  );
}

/** A mailbox as it is shown. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** Reads 'Name <a@example.com>' or 'a@example.com'; nothing for any other text. */
export function readMailbox(value: unknown): Mailbox | undefined {
  if (typeof value !== 'string' || /\p{C}/u.test(value)) return undefined;
  const parts = named.exec(value.trim())?.groups;
  const found = { name: parts?.['name'] ?? '', address: parts?.['address'] ?? value.trim() };
  return isAddress(found.address) ? found : undefined;
}
