import type { WatchedPage } from './chromium.ts';

export interface FaintText {
  readonly text: string;
  readonly ratio: number;
}

/**
 * Texts that stand out too little from what is behind them: WCAG asks for 4.5, for large text for
 * 3. Disabled controls are exempt there, too.
 */
export function faintTexts({ evaluate }: WatchedPage): Promise<readonly FaintText[]> {
  return evaluate(`(() => {
    const parts = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
    const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const colour = parts(getComputedStyle(at).backgroundColor);
        if (colour.length === 3 || colour[3] === 1) return colour;
      }
      return [255, 255, 255];
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Map();
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.data.trim();
      if (text === '' || !element.checkVisibility() || element.closest('script, :disabled, .unseen')) continue;
      const style = getComputedStyle(element);
      const colour = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
      const [a, b] = [light(parts(colour)), light(behind(element))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (isLarge ? 3 : 4.5)) found.set(element.className + colour, { text: text.slice(0, 40), ratio });
    }
    return [...found.values()];
  })()`);
}

/**
 * Number of pixels by which the page is wider than its window: 0 when nothing has to be scrolled
 * sideways.
 */
export function overflow({ evaluate }: WatchedPage): Promise<number> {
  return evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
