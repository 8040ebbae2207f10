import { html, type Markup, shortLine } from './markup.ts';

const colours = 6;
const shapes = [
  'M0-5a5 5 0 1 1 0 10a5 5 0 1 1 0-10z',
  'M-4.5-4.5h9v9h-9z',
  'M0-6.2L6.2 0L0 6.2L-6.2 0z',
  'M0-5.6L5.8 4.6H-5.8z',
] as const;

/** Longest name of a variant, a scorer or a tag that is written out. */
export const longestName = 80;

/** The class that gives a variant its colour in charts, by its place in the report. */
export function variantClass(variant: number): string {
  return `variant-${variant % colours}`;
}

/** A variant's sign, around the point 0,0 of an SVG. Neighbours differ in colour and in shape. */
export function variantShape(variant: number): Markup {
  const shape = shapes[variant % shapes.length] ?? shapes[0];
  return html`<path class="shape ${variantClass(variant)}" d="${shape}"/>`;
}

/** The sign with the name. */
export function variantLabel(variant: number, name: string): Markup {
  const text = html`<bdi>${shortLine(name, longestName)}</bdi>`;
  return html`<span class="variant-label">${variantSign(variant)}${text}</span>`;
}

export function variantSign(variant: number): Markup {
  const size = html`width="14" height="14" viewBox="-7 -7 14 14"`;
  return html`<svg class="sign" ${size} aria-hidden="true">${variantShape(variant)}</svg>`;
}

/** Renders the legend of the signs in a chart. */
export function variantLegend(names: readonly string[]): Markup {
  return html`<p class="legend">${names.map((name, variant) => variantLabel(variant, name))}</p>`;
}
