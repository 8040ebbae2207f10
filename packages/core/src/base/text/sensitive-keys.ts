/** Last words of the names of values that nobody but their owner may see. */
const lastWords: ReadonlySet<string> = new Set([
  ...[
    'password',
    'passwd',
    'passphrase',
    'passcode',
    'pwd',
    'secret',
    'secrets',
    'token',
    'authorization',
    'cookie',
    'cookies',
    'credential',
  ],
  ...['credentials', 'creds', 'cvv', 'cvc', 'otp', 'jwt', 'mnemonic', 'phpsessid', 'jsessionid'],
]);

/** Two last words that mean the same, in one. */
const lastPairs: ReadonlySet<string> = new Set([
  ...[
    'apikey',
    'privatekey',
    'secretkey',
    'accesskey',
    'signingkey',
    'encryptionkey',
    'masterkey',
    'sharedkey',
    'accountkey',
    'authkey',
  ],
  ...[
    'connectionstring',
    'setcookie',
    'passkey',
    'secretaccesskey',
    'passphrase',
    'seedphrase',
    'hmackey',
    'sessionkey',
    'licensekey',
    'dbpass',
  ],
  ...['userpass', 'smtppass', 'loginpass'],
]);

/** Names that are written without a mark between their words. */
const writtenNames = [
  ...['password', 'passphrase', 'apikey', 'secretkey', 'privatekey', 'accesskey'],
  ...['accesstoken', 'authtoken', 'refreshtoken', 'sessiontoken', 'bearertoken'],
  ...['clientsecret', 'connectionstring', 'authorization'],
];
const written = new RegExp(`(?:${writtenNames.join('|')})$`);

/**
 * Additions to such a name that do not change its meaning: `password2`, `API_KEY_PROD`,
 * `privateKeyPem`.
 */
const additions: ReadonlySet<string> = new Set([
  ...[
    'value',
    'text',
    'string',
    'pem',
    'raw',
    'plain',
    'base',
    'base64',
    'b64',
    'hash',
    'confirm',
    'confirmation',
    'repeat',
    'old',
    'new',
  ],
  ...['prod', 'production', 'staging', 'dev', 'test', 'live', 'sandbox'],
]);

function isAddition(word: string): boolean {
  return additions.has(word) || /^v?\d+$/.test(word);
}

const longestKey = 200;

/**
 * Checks that the value under a key is a secret: `apiKey`, `X-Auth-Token`, `DB_PASSWORD`, but not
 * `maxTokens` or `passwordPolicy`.
 */
export function isSensitiveKey(key: string): boolean {
  if (key.length > longestKey) return false;
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  while (words.length > 1 && isAddition(words.at(-1) ?? '')) words.pop();
  const last = words.at(-1)?.replace(/\d+$/, '');
  if (last === undefined) return false;
  return (
    lastWords.has(last) ||
    lastPairs.has(last) ||
    lastPairs.has(`${words.at(-2) ?? ''}${last}`) ||
    written.test(last)
  );
}

/**
 * Words that stand under such keys without being secret, and those that hold ledgers together: they
 * are not looked for elsewhere.
 */
const plainWords: ReadonlySet<string> = new Set(
  [
    'true false null undefined none unknown required optional disabled enabled missing ' +
      'invalid valid expired hidden redacted present absent empty',
    'string number integer boolean object array text json type name value values code ' +
      'message content function default error errors result',
    'success partial timeout completed cancelled transferred interrupted open yielded user ' +
      'assistant system tool model runtime operator trigger',
    'agent step sequence parallel loop session state input output public private bearer ' +
      'basic digest token password secret cookie authorization',
    'apikey api_key credentials approve reject edit answer test local production staging example',
  ]
    .join(' ')
    .split(' '),
);

/** Checks that a value is a word of everyday use, which reveals nothing in another place. */
export function isPlainWord(value: string): boolean {
  return plainWords.has(value.toLowerCase());
}
