import { isSensitiveKey } from '../base/text/sensitive-keys.ts';

/** A secret in a text. */
export interface FoundSecret {
  readonly from: number;
  readonly to: number;
  readonly rule: string;
}

/**
 * A form that secrets have. All repeats are bounded, so that no text takes longer than its length
 * asks for.
 */
interface SecretForm {
  readonly rule: string;
  readonly pattern: RegExp;
  /** The number of the group that is the secret. @default the whole */
  readonly group?: number;
  /** True when the secret stands right behind the match, and not at its end. */
  readonly isBehind?: boolean;
  readonly isRight?: (found: RegExpMatchArray) => boolean;
}

const start = '(?<![A-Za-z0-9])';
const end = '(?![A-Za-z0-9])';

/** Keys of well-known services, by how they begin. */
const prefixes: readonly string[] = [
  ...[
    '(?:sk|rk|pk)[-_](?=[A-Za-z_-]{0,60}\\d)[A-Za-z0-9_-]{12,400}',
    'gh[pousr]_[A-Za-z0-9]{20,255}',
    'github_pat_[A-Za-z0-9_]{20,255}',
  ],
  ...[
    'glpat-[A-Za-z0-9_-]{16,255}',
    'xox[a-z]-[A-Za-z0-9-]{10,255}',
    'xapp-[A-Za-z0-9-]{10,255}',
    '(?:AKIA|ASIA)[A-Z0-9]{16}',
  ],
  ...[
    'AIza[A-Za-z0-9_-]{30,60}',
    'ya29\\.[A-Za-z0-9_-]{20,400}',
    'npm_[A-Za-z0-9]{30,60}',
    'hf_[A-Za-z0-9]{20,60}',
    'hv[sb]\\.[A-Za-z0-9_-]{20,255}',
  ],
  ...[
    'SG\\.[A-Za-z0-9_-]{16,40}\\.[A-Za-z0-9_-]{16,80}',
    'gsk_[A-Za-z0-9]{20,100}',
    'xai-[A-Za-z0-9]{20,120}',
    'pplx-[A-Za-z0-9]{20,100}',
  ],
  ...[
    'r8_[A-Za-z0-9]{20,60}',
    'whsec_[A-Za-z0-9+/=]{16,100}',
    'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,64}',
    'do[opr]_v1_[a-f0-9]{40,80}',
  ],
  ...[
    'dckr_pat_[A-Za-z0-9_-]{16,60}',
    'pypi-[A-Za-z0-9_-]{16,400}',
    'lin_api_[A-Za-z0-9]{20,60}',
    'AGE-SECRET-KEY-1[A-Z0-9]{40,80}',
  ],
  ...[
    '\\d{8,10}:AA[A-Za-z0-9_-]{30,40}',
    'sq0[a-z]{3}-[A-Za-z0-9_-]{20,60}',
    'GOCSPX-[A-Za-z0-9_-]{20,60}',
    'dapi[a-f0-9]{32}',
    'sbp_[a-f0-9]{40}',
  ],
  ...[
    'SK[a-f0-9]{32}',
    'key-[a-f0-9]{32}',
    'NRAK-[A-Z0-9]{20,40}',
    'lsv2_[a-z]{2}_[A-Za-z0-9_]{30,90}',
    'dp\\.(?:pt|st)\\.[A-Za-z0-9_.-]{30,90}',
  ],
];

const hasDigitOrMark = /[\d=+/_.~-]/;
const shortestWithoutDigit = 16;
const shortestAfterColon = 8;

/** Label of a private key in the lines around it. */
const keyLabel = '[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}';
const webhookAddresses = [
  String.raw`hooks\.slack\.com\/services`,
  String.raw`discord(?:app)?\.com\/api\/webhooks`,
];
/** The name of a value that stands behind it, and the mark between them. */
const keyName = '(?<![A-Za-z0-9])([A-Za-z][A-Za-z0-9_.-]{1,60})';
const keyMark = String.raw`[ \t]{0,3}[:=][ \t]{0,3}`;

const forms: readonly SecretForm[] = [
  {
    rule: 'private_key',
    pattern: new RegExp(
      `-----BEGIN ${keyLabel}-----[\\s\\S]{0,10000}?(?:-----END ${keyLabel}-----|$)`,
      'g',
    ),
  },
  {
    rule: 'jwt',
    pattern: new RegExp(
      `${start}eyJ[A-Za-z0-9_-]{5,8000}\\.[A-Za-z0-9_-]{5,16000}(?:\\.[A-Za-z0-9_-]{0,2000})?`,
      'g',
    ),
  },
  { rule: 'api_key', pattern: new RegExp(`${start}(?:${prefixes.join('|')})${end}`, 'g') },
  {
    rule: 'authorization',
    pattern: new RegExp(
      `${start}(Bearer|Basic|Digest|ApiKey|Token)[ \\t]{1,4}([A-Za-z0-9._~+/=-]{8,8000})`,
      'gi',
    ),
    group: 2,
    isRight: ({ 1: scheme = '', 2: value = '' }) =>
      hasDigitOrMark.test(value) ||
      value.length >= shortestWithoutDigit ||
      (scheme.toLowerCase() === 'basic' && isBasic(value)),
  },
  {
    rule: 'webhook',
    pattern: new RegExp(
      String.raw`https:\/\/(?:${webhookAddresses.join('|')})\/([^\s"'<>\\?#]{8,300})`,
      'gi',
    ),
    group: 1,
  },
  {
    rule: 'connection_string',
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}:\/\/` +
        String.raw`[^\s:/?#@"'\\]{0,200}:([^\s@/"'\\<>]{1,500})@`,
      'g',
    ),
    group: 1,
  },
  {
    rule: 'cookie',
    pattern: new RegExp(
      String.raw`(?<![A-Za-z0-9])(?:set-)?cookie["']?[ \t]{0,3}:[ \t]{0,3}` +
        String.raw`["']?([^\s=;"']{1,100}=[^\r\n"'\\]{0,8000})`,
      'gi',
    ),
    group: 1,
  },
  {
    rule: 'sensitive_key',
    pattern: new RegExp(String.raw`${keyName}\\?["']?${keyMark}\\"([^"\\]{1,2000})\\"`, 'g'),
    group: 2,
    isRight: underSensitiveKey,
  },
  {
    rule: 'sensitive_key',
    pattern: new RegExp(String.raw`${keyName}["']?${keyMark}"((?:[^"\\]|\\.){1,2000})"`, 'g'),
    group: 2,
    isRight: underSensitiveKey,
  },
  {
    rule: 'sensitive_key',
    pattern: new RegExp(String.raw`${keyName}["']?${keyMark}'([^'\\]{1,2000})'`, 'g'),
    group: 2,
    isRight: underSensitiveKey,
  },
  {
    rule: 'sensitive_key',
    // The value is looked at without being passed by: what stands under a key may have a key of its
    // own, as in an address.
    pattern: new RegExp(
      String.raw`${keyName}["']?(=|${keyMark})(?=([^\s"'\\&;,<>(){}[\]]{1,2000}))`,
      'g',
    ),
    group: 3,
    isBehind: true,
    isRight: ({ 1: key = '', 2: mark, 3: value = '' }) =>
      isSensitiveKey(key) &&
      (mark === '=' || (value.length >= shortestAfterColon && hasDigitOrMark.test(value))),
  },
  {
    rule: 'sensitive_key',
    pattern:
      /(?<![\w-])--([A-Za-z][A-Za-z0-9-]{1,60})[ \t]{1,4}(?=([^\s"'\\<>-][^\s"'\\<>]{0,2000}))/g,
    group: 2,
    isBehind: true,
    isRight: underSensitiveKey,
  },
  {
    rule: 'sensitive_key',
    pattern: /<([A-Za-z][A-Za-z0-9_.-]{1,60})>([^<>]{1,2000})<\//g,
    group: 2,
    isRight: underSensitiveKey,
  },
];

function underSensitiveKey({ 1: key = '' }: RegExpMatchArray): boolean {
  return isSensitiveKey(key);
}

/** Checks that the text behind `Basic` is a name with its password, and no word. */
function isBasic(value: string): boolean {
  return /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(Buffer.from(value, 'base64').toString('utf8'));
}

const shortestText = 6;

/** Everything in a text that has the form of a secret, in order and without overlaps. */
export function findSecrets(text: string): readonly FoundSecret[] {
  if (text.length < shortestText) return [];
  const found: FoundSecret[] = [];
  for (const { rule, pattern, group = 0, isBehind = false, isRight } of forms) {
    for (const match of text.matchAll(pattern)) {
      const secret = match[group] ?? '';
      if (secret === '' || (isRight !== undefined && !isRight(match))) continue;
      // The secret is the last thing in a match but for a closing mark.
      const from = match.index + (isBehind ? match[0].length : match[0].lastIndexOf(secret));
      found.push({ from, to: from + secret.length, rule });
    }
  }
  return withoutOverlaps(found);
}

/** The longer of two that overlap. */
function withoutOverlaps(found: FoundSecret[]): readonly FoundSecret[] {
  found.sort((a, b) => a.from - b.from || b.to - a.to);
  const kept: FoundSecret[] = [];
  for (const secret of found) {
    const last = kept.at(-1);
    if (last === undefined || secret.from >= last.to) kept.push(secret);
    else if (secret.to > last.to) kept[kept.length - 1] = { ...last, to: secret.to };
  }
  return kept;
}
