/**
 * Returns the forms that encodings give a value: in JSON within JSON, in addresses, pages, headers
 * and dumps.
 */
export function encodedForms(value: string): readonly string[] {
  const json = inJson(value);
  const forms = [
    json,
    inJson(json),
    asciiJson(value),
    asciiJson(json),
    json.replaceAll('/', '\\/'),
    ...addressForms(value),
    ...pageForms(value),
    ...byteForms(Buffer.from(value, 'utf8')),
  ];
  return [...new Set(forms)].filter((form) => form !== value);
}

function inJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** As programs write JSON that keep to ASCII. */
function asciiJson(value: string): string {
  return inJson(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function pageForms(value: string): readonly string[] {
  const form = value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return [form, ...['&#39;', '&#x27;', '&apos;'].map((quote) => form.replaceAll("'", quote))];
}

function addressForms(value: string): readonly string[] {
  // Half a character cannot stand in an address.
  if (!value.isWellFormed()) return [];
  const component = encodeURIComponent(value);
  return [
    component,
    encodeURI(value),
    new URLSearchParams([['', value]]).toString().slice(1),
    component.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  ];
}

function byteForms(bytes: Buffer): readonly string[] {
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before));
  return [
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/**
 * Returns the part of the Base64 of a longer text that depends on these bytes alone, when so many
 * bytes (modulo 3) stand before them.
 */
function base64Within(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  return whole
    .toString('base64')
    .slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
}
