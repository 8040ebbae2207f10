import { expect, test } from 'vitest';
import { chased } from './chased.ts';
import { opened, withChromium } from './opened.ts';

withChromium();

test('a screen reader has a sensible tree of the page of a session', async () => {
  const app = await chased();
  const { page } = await opened(app, { path: '/sessions/chase-0?at=40' });
  await page.locator('[data-at="40"]').waitFor();
  const tree = await page.locator('main').ariaSnapshot();
  for (const line of [
    /heading "Chase the unpaid invoices\." \[level=1\]/,
    /region "Transcript"/,
    /region "Timeline"/,
    /listbox "Events"/,
    /option .*\[selected\]/,
    /region "State at the chosen event"/,
    /slider "Ledger"/,
    /button "Fork from #40/,
  ])
    expect(tree).toMatch(line);
});
