import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Presses Tab until a thing has the focus, and looks whether the focus is drawn. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const { words, isDrawn } = await page.evaluate<{ words: string; isDrawn: boolean }>(`(() => {
      const { activeElement: element } = document;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return {
        words: element.getAttribute('aria-label')
          ?? element.labels?.[0]?.innerText ?? element.innerText ?? '',
        isDrawn: outlineStyle !== 'none' && outlineWidth !== '0px',
      };
    })()`);
    if (!name.test(words.trim())) continue;
    expect(isDrawn).toBe(true);
    return;
  }
  throw new Error(`Tab does not lead to ${String(name)}`);
}
