import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { pictures } from '../../chromium.ts';
import { chased } from '../chased.ts';
import { keptEvals } from '../kept-evals.ts';
import { opened, withChromium } from '../opened.ts';

/** Pages, each with a text that comes last. */
const pages = [
  ['now', '/now', 'Chase the unpaid'],
  ['sessions', '/sessions', 'fork-0'],
  ['session', '/sessions/chase-0?at=40', 'First the record of Keller.'],
  ['prompt', '/sessions/chase-0?at=40&panel=prompt', 'First the record of Keller.'],
  ['fork', '/sessions/chase-0?at=40&panel=fork', 'First the record of Keller.'],
  ['compare', '/compare?a=chase-0&b=fork-0', 'queryCsv'],
  ['approvals', '/approvals', 'sendMail'],
  ['tasks', '/tasks', 'The queue is empty.'],
  ['triggers', '/triggers', 'weekly'],
  ['agents', '/agents', 'Try it'],
  ['evals', '/evals', 'version 2'],
  ['eval', '/evals/{after}', 'I cannot tell.'],
  ['eval-case', '/evals/{after}?case=Norway&of=current', 'geography'],
  ['evals-compare', '/evals/compare?a={before}&b={after}', 'Worse'],
  ['health', '/health', 'crmLookup'],
  ['keys', '/keys', 'No keys yet.'],
  ['audit', '/audit', 'No entry'],
] as const;
/**
 * Violations of all rules of axe. The page has no frames: it needs no second page that puts those
 * of several together, and what was fine is not carried over.
 */
async function axe(page: Page) {
  expect(page.frames()).toHaveLength(1);
  const builder = new AxeBuilder({ page }).setLegacyMode();
  return (await builder.options({ resultTypes: ['violations'] }).analyze()).violations;
}

/** Milliseconds for all pages in all schemes of a size, on a loaded machine too. */
const patienceMs = 360_000;

/** A way in which the dashboard is looked at. */
interface Look {
  readonly schemes: readonly ('light' | 'dark')[];
  readonly width: number;
  readonly height: number;
}

/** Follows the scheme of the system, as a page that is open when it changes. */
async function turnTo(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))');
}

/**
 * Tests each page in looks of one size, and keeps its pictures. Sizes have files of their own, to
 * run at once.
 */
export function testLook({ schemes, width, height }: Look): void {
  withChromium();
  test(`axe finds nothing on any page in ${schemes.join(' and ')}, ${width} wide`, {
    timeout: patienceMs,
  }, async () => {
    const app = await chased();
    const { folder, ...kept } = await keptEvals(app);
    const { page, problems, url } = await opened(app, {
      path: '/now',
      serve: { evals: { folder } },
      context: { viewport: { width, height }, reducedMotion: 'reduce' },
    });
    const found: string[] = [];
    for (const [name, path, text] of pages) {
      const address = path.replace('{before}', kept.before).replace('{after}', kept.after);
      await page.emulateMedia({ colorScheme: schemes[0] ?? null });
      await page.goto(`${url}${address}`);
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await expect.poll(() => page.locator('[aria-label^="Reading"]').count()).toBe(0);
      await page.getByText(text).first().waitFor();
      for (const scheme of schemes) {
        if (scheme !== schemes[0]) await turnTo(page, scheme);
        await page.screenshot({ path: `${pictures()}/${name}-${scheme}-${width}.png` });
        for (const { id, nodes } of await axe(page))
          found.push(
            `${name} in ${scheme}: ${id} ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
          );
      }
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > width) found.push(`${name}: ${wide} pixels wide`);
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  });
}
