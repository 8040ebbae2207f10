import { sha256 } from '../../base/hash.ts';
import type { EvalReport } from '../report.ts';
import { caseOverviews } from './case-overview.ts';
import { caseSection, type SessionCommand } from './case-section.ts';
import { chartSection } from './chart-section.ts';
import { comparisonSection } from './comparison-section.ts';
import { html, Markup, shortened } from './markup.ts';
import { pageScript } from './page-script.ts';
import { pageStyle } from './page-style.ts';
import { summarySection, titleOf } from './summary-section.ts';

export interface EvalReportHtmlOptions {
  /**
   * The command line that shows the session of a trial.
   * @default `adjutant show <session> --tree`
   */
  readonly sessionCommand?: SessionCommand;
}

const longestMethods = 2_000;

/**
 * A report as a page: one file that needs no network, with charts, the cases and their trials. It
 * may be opened from anywhere: its policy lets nothing run but its own script, nothing be loaded
 * and nothing be sent, and whatever stands in the report is shown as text. Without JavaScript only
 * the filters are missing. Long texts are shortened, and where an eval has more than a browser can
 * show, the cases that did not pass come first.
 */
export function evalReportHtml(
  report: EvalReport,
  { sessionCommand = defaultCommand }: EvalReportHtmlOptions = {},
): string {
  const cases = caseOverviews(report);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${titleOf(report)} · eval report</title>
${element('style', pageStyle)}
</head>
<body>
<a class="skip" href="#cases">Skip to the cases</a>
<main>
${summarySection(report)}
${chartSection(report)}
${comparisonSection(report, cases)}
${caseSection(report, cases, sessionCommand)}
</main>
<footer><p>${shortened(report.methods, longestMethods)}</p></footer>
${element('script', pageScript)}
</body>
</html>
`.toString();
}

/**
 * An end tag of a script that stands in a tagged template is changed by bundlers, with an import of
 * a package that nobody has.
 */
function element(name: 'script' | 'style', content: string): Markup {
  return new Markup(`<${name}>${content}</${name}>`);
}

/**
 * A file that is opened has no headers to say it: nothing is loaded or sent, and of script and
 * style only what is ours counts.
 */
function policy(): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(pageScript)}'`,
    `style-src '${hashOf(pageStyle)}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types details',
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}`;
}

function defaultCommand(session: string): string {
  // Behind two dashes, a text that begins like an option is none.
  return session.startsWith('-')
    ? `adjutant show --tree -- ${shellWord(session)}`
    : `adjutant show ${shellWord(session)} --tree`;
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
