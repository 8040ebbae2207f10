/**
 * Style of the page, in light and dark. It is part of the page's policy by its hash: no other
 * style, not even of an attribute, counts.
 */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f7f9, #14161a);
  --surface: light-dark(#ffffff, #1c1f25);
  --sunken: light-dark(#f1f3f6, #16181d);
  --text: light-dark(#1a1d23, #e8eaee);
  --soft: light-dark(#565d69, #a3abb8);
  --line: light-dark(#dde1e7, #343a44);
  --control: light-dark(#868e9b, #6d7684);
  --accent: light-dark(#1f57c3, #8db3ff);
  --passed: light-dark(#14703a, #5cd08c);
  --passed-back: light-dark(#e3f4e9, #173525);
  --failed: light-dark(#b3261e, #ff8f87);
  --failed-back: light-dark(#fcebea, #46201e);
  --flaky: light-dark(#7d5300, #eebd55);
  --flaky-back: light-dark(#fbf0d9, #3d3014);
  --variant-0: light-dark(#2f5fd0, #86abff);
  --variant-1: light-dark(#b8560b, #f2a65a);
  --variant-2: light-dark(#0d7d74, #4ecdc0);
  --variant-3: light-dark(#a8328d, #e68ad0);
  --variant-4: light-dark(#676f00, #c2c94f);
  --variant-5: light-dark(#6a42c2, #b39bf5);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main, footer { max-width: 80rem; margin: 0 auto; padding: 0 1.5rem; }
main { padding-top: 2.5rem; }
footer { padding-top: 2rem; padding-bottom: 3rem; color: var(--soft); font-size: .875rem; }
h1, h2, h3, h4, p, dl, figure, ol, ul { margin: 0; padding: 0; }
h1 { font-size: clamp(1.6rem, 4vw, 2.25rem); line-height: 1.2; letter-spacing: -.015em; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 1rem; letter-spacing: -.01em; }
h3 { font-size: 1rem; }
h4 { font-size: .9rem; font-weight: 600; margin: 1rem 0 .1rem; }
code, pre { font-family: var(--mono); font-size: .875em; }
a { color: var(--accent); }
ol, ul { list-style: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
.skip {
  position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; background: var(--surface);
  border-radius: 0 0 6px 6px;
}
.skip:focus { top: 0; z-index: 1; }
[hidden] { display: none !important; }
.range, .note {
  color: var(--soft); font-weight: 400; font-size: .875rem; font-variant-numeric: tabular-nums;
}
.overline {
  color: var(--soft); font-size: .8rem; font-weight: 600; letter-spacing: .08em;
  text-transform: uppercase; margin-bottom: .35rem;
}

.verdict { margin: 1rem 0 1.5rem; max-width: 60rem; }
.badge, .outcome {
  display: inline-block; border-radius: 999px; padding: .1rem .65rem; font-weight: 600;
  font-size: .8125rem; white-space: nowrap;
}
.badge { font-size: .95rem; padding: .2rem .85rem; margin-right: .35rem; }
.verdict.passed .badge, .outcome.passed { color: var(--passed); background: var(--passed-back); }
.verdict.failed .badge, .outcome.failed { color: var(--failed); background: var(--failed-back); }
.verdict.unfinished .badge, .outcome.flaky { color: var(--flaky); background: var(--flaky-back); }
.outcome { justify-self: start; }
.outcome.none { color: var(--soft); background: var(--sunken); }
.facts { display: flex; flex-wrap: wrap; gap: .75rem 2rem; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { margin: 0; font-variant-numeric: tabular-nums; }

.cards {
  display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr));
}
.card, .chart {
  background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem;
  min-width: 0;
}
.card .rate { margin: .75rem 0 1.1rem; }
.card .rate strong {
  font-size: 2.25rem; line-height: 1.1; letter-spacing: -.02em; margin-right: .35rem;
  font-variant-numeric: tabular-nums;
}
.card .facts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(7rem, 1fr)); gap: .75rem;
}
.charts { columns: 2 28rem; column-gap: 1rem; margin-bottom: -1rem; }
.charts > .chart { break-inside: avoid; margin-bottom: 1rem; container-type: inline-size; }
.chart figcaption { margin-bottom: .9rem; }
.comparison + .comparison { margin-top: 2.5rem; }
.comparison > p { margin: .35rem 0 1rem; }
.versus { font-size: 1.05rem; }
.legend {
  display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-bottom: .75rem; font-size: .875rem;
}
.variant-label { display: inline-flex; gap: .35rem; align-items: baseline; max-width: 100%; }
.variant-label .sign { flex: none; align-self: start; margin-top: calc(.65em - 7px + .1em); }
.tag {
  display: inline-block; max-width: 100%; border: 1px solid var(--line); border-radius: 5px;
  padding: 0 .4rem; font-size: .75rem; font-weight: 400; color: var(--soft); vertical-align: .1em;
}
.change { font-size: .8125rem; font-weight: 600; white-space: nowrap; }
.better { color: var(--passed); }
.worse { color: var(--failed); }
.count.regressed { color: var(--failed); }
.count.improved { color: var(--passed); }

.drawing { display: block; overflow: visible; }
.shape { stroke: var(--surface); stroke-width: 1.5; }
.variant-0 { --own: var(--variant-0); }
.variant-1 { --own: var(--variant-1); }
.variant-2 { --own: var(--variant-2); }
.variant-3 { --own: var(--variant-3); }
.variant-4 { --own: var(--variant-4); }
.variant-5 { --own: var(--variant-5); }
.shape, .bar { fill: var(--own); }
.span { stroke: var(--own); stroke-width: 3; stroke-linecap: round; opacity: .55; }
.curve { stroke: var(--own); stroke-width: 2.25; stroke-linecap: round; }
.curve.dashed { stroke-dasharray: 2 6; }
.grid-line { stroke: var(--line); }
.base-line { stroke: var(--control); }
.line-threshold { stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 4 3; }
.line-zero { stroke: var(--soft); stroke-width: 1.5; }
.line-p50 { stroke: var(--text); stroke-width: 1.5; }
.line-p95 { stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 3 3; }
.tick { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
.interval-row {
  display: grid; grid-template-columns: minmax(0, 10.5rem) minmax(5rem, 1fr) minmax(0, 8.75rem);
  gap: 0 .9rem; align-items: center;
}
.interval-label { font-size: .875rem; line-height: 1.3; padding: .3rem 0; }
.interval-plot { align-self: stretch; position: relative; min-height: 1.75rem; padding: 0 6px; }
.interval-row:not(.axis) .drawing {
  position: absolute; left: 6px; top: 0; width: calc(100% - 12px); height: 100%;
}
.interval-row.axis .interval-plot { min-height: 0; }
.interval-value { font-size: .875rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.interval-value .range { font-size: .8125rem; white-space: nowrap; }
.histogram-row + .histogram-row { margin-top: .9rem; }
.histogram-label {
  display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; font-size: .875rem;
  margin-bottom: .3rem;
}
.curve-plot { padding: 6px 12px 0 46px; }
.scroll { overflow-x: auto; }
table {
  border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums;
}
th, td {
  overflow-wrap: break-word; text-align: left; padding: .4rem 1rem .4rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; font-weight: 400; min-width: 5.5rem;
}
thead th { color: var(--soft); font-size: .8125rem; }
tr:last-child > * { border-bottom: 0; }
.case-links { display: flex; flex-wrap: wrap; gap: .35rem .9rem; font-size: .875rem; }
.case-links a { display: inline-block; padding: .15rem 0; }

button, select, input {
  font: inherit; font-size: .875rem; color: var(--text); background: var(--surface);
  border: 1px solid var(--control); border-radius: 7px; padding: .35rem .7rem; min-height: 2.25rem;
  max-width: 100%;
}
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--text); }
button:disabled { color: var(--soft); border-color: var(--line); cursor: default; }
.filter .count { color: var(--soft); font-variant-numeric: tabular-nums; margin-left: .15rem; }
.filter[aria-pressed="true"] {
  background: var(--text); color: var(--page); border-color: var(--text); font-weight: 600;
}
.filter[aria-pressed="true"] .count { color: inherit; }
.toolbar {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: .75rem; margin-bottom: .75rem;
}
.filters, .controls { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.controls label { font-size: .875rem; color: var(--soft); max-width: 100%; }
.controls select { max-width: 14rem; }
.search { flex: 1 1 16rem; }
.search input { width: 100%; }
.empty { padding: 1.5rem 0; }

.section-note { margin: -.5rem 0 1rem; }
.cases {
  border: 1px solid var(--line); border-radius: 12px; background: var(--surface); overflow: clip;
  margin-top: .5rem;
}
.cases:empty { display: none; }
.case:not(:first-child) { border-top: 1px solid var(--line); }
.case > details > summary {
  display: grid; grid-template-columns: 5rem minmax(12rem, 1fr) auto 5.5rem; gap: .25rem 1rem;
  align-items: start; padding: .75rem 1.25rem .75rem 2.1rem; cursor: pointer; list-style: none;
  position: relative;
}
.case > details > summary::-webkit-details-marker { display: none; }
.case > details > summary::before {
  content: ""; position: absolute; left: 1rem; top: 1.15rem; width: .45rem; height: .45rem;
  border: solid var(--soft); border-width: 0 2px 2px 0; transform: rotate(-45deg);
}
.case > details[open] > summary::before { transform: rotate(45deg); }
.case > details > summary:hover { background: var(--sunken); }
.case > details > summary:focus-visible { outline-offset: -3px; border-radius: 10px; }
.case-name { min-width: 0; line-height: 1.45; }
.case-id { font-weight: 600; }
.reason {
  display: block; color: var(--soft); font-size: .875rem; max-height: 2.9em; overflow: hidden;
}
.case-variants {
  display: grid; gap: .15rem 1.25rem; grid-template-columns: auto;
  font-variant-numeric: tabular-nums; font-size: .875rem;
}
.case-variants.many { grid-template-columns: auto auto; }
.variant-cell { display: flex; align-items: center; gap: .4rem; line-height: 1.45; }
.fraction { min-width: 2.4em; }
.marks { display: flex; flex-wrap: wrap; gap: 2px; max-width: 8rem; }
.mark {
  display: inline-grid; place-items: center; width: 1.1rem; height: 1.1rem; border-radius: 4px;
  font-size: .7rem; font-weight: 700; line-height: 1; flex: none;
}
.mark.passed { color: var(--passed); background: var(--passed-back); }
.mark.failed { color: var(--failed); background: var(--failed-back); }
.case-numbers { text-align: right; font-size: .875rem; font-variant-numeric: tabular-nums; }
.case-numbers .range { display: block; }
.case-body { padding: .25rem 1.25rem 1.5rem 2.1rem; }
.case-body > .text { max-width: 60rem; color: var(--soft); }
.case-columns {
  display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); margin-top: .75rem;
}
.variant-trials { min-width: 0; }
.variant-trials h3 { font-size: .9375rem; margin-bottom: .5rem; }
.trial { border: 1px solid var(--line); border-radius: 9px; margin-top: .5rem; }
.trial > summary { padding: .5rem .75rem; cursor: pointer; font-size: .9rem; }
.trial > summary .mark { margin: 0 .15rem; vertical-align: -.15em; }
.trial > summary .range { margin-left: .35rem; }
.trial > :not(summary) { margin: .5rem .75rem .75rem; }
.trial-error {
  color: var(--failed); background: var(--failed-back); border-radius: 7px; padding: .5rem .75rem;
  font-size: .9rem; white-space: pre-wrap; max-height: 20rem; overflow: auto;
}
.scores > li { display: flex; gap: .6rem; padding: .35rem 0; font-size: .9rem; }
.scores > li > div { min-width: 0; flex: 1; }
.scores .mark { margin-top: .15rem; }
.scores .text { color: var(--soft); }
.text { white-space: pre-wrap; max-height: 24rem; overflow: auto; }
.inner > summary { cursor: pointer; font-size: .8125rem; color: var(--soft); }
pre {
  margin: .4rem 0 0; padding: .6rem .75rem; background: var(--sunken); border-radius: 7px;
  max-height: 20rem; overflow: auto; white-space: pre-wrap;
}
.turns { display: grid; gap: .6rem; }
.turns > li { display: grid; gap: .6rem; }
.message {
  border-radius: 10px; padding: .5rem .8rem; font-size: .9rem; max-width: 92%; justify-self: start;
  min-width: 0;
}
.message.user { background: light-dark(#e6edfb, #232f49); justify-self: end; }
.message.assistant { background: var(--sunken); }
.message.none { color: var(--soft); font-style: italic; padding-left: 0; }
.role { display: block; font-size: .75rem; font-weight: 600; color: var(--soft); }
.calls { display: grid; gap: .3rem; border-left: 3px solid var(--line); padding-left: .75rem; }
.calls li { font-size: .875rem; max-height: 10rem; overflow: auto; }
.status { font-size: .75rem; font-weight: 600; margin-right: .25rem; }
.status.good { color: var(--passed); }
.status.bad { color: var(--failed); }
.session {
  display: flex; gap: .6rem; align-items: center; background: var(--sunken); border-radius: 7px;
  padding: .3rem .3rem .3rem .75rem; min-height: 2.25rem;
}
.session code { flex: 1; min-width: 0; }
.session button { min-height: 1.75rem; padding: .1rem .6rem; }

@container (max-width: 31rem) {
  .interval-row { grid-template-columns: minmax(0, 1fr) auto; gap: .1rem .75rem; }
  .interval-plot { grid-column: 1 / -1; grid-row: 2; }
  .interval-row.axis .interval-label, .interval-row.axis .interval-value { display: none; }
  .interval-value { text-align: right; }
}
@media (max-width: 46rem) {
  main, footer { padding-left: 1rem; padding-right: 1rem; }
  main { padding-top: 1.5rem; }
  .card, .chart { padding: 1rem; }
  .case > details > summary { grid-template-columns: auto 1fr; padding-right: 1rem; }
  .case-name, .case-variants { grid-column: 1 / -1; }
  .case-numbers { grid-row: 1; grid-column: 2; }
  .case-numbers .range { display: inline; margin-left: .4rem; }
  .case-variants, .case-variants.many {
    grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr));
  }
  .case-body { padding-left: 1rem; padding-right: 1rem; }
  .controls select { max-width: 100%; }
}
@media (forced-colors: active) {
  .shape, .bar { fill: CanvasText; }
  .span, .curve { stroke: CanvasText; }
  .mark, .outcome, .badge, .filter[aria-pressed="true"] { border: 1px solid; }
}
@media print {
  :root { color-scheme: light; }
  body { background: none; }
  .toolbar, .session button, .skip { display: none; }
  .case { break-inside: avoid-page; }
  .text, pre, .calls li { max-height: none; }
}
`;
