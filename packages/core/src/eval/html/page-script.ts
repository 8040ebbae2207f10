/**
 * The script of the page: filters, search, order, links to cases, copying of commands. It makes
 * HTML only from the page's own. The policy of the page names its hash, so that no other script
 * runs there.
 */
export const pageScript = String.raw`'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const list = byId('case-list');
  const rows = [...list.children];
  const buttons = [...document.querySelectorAll('.filter')];
  const controls = {
    search: byId('search'),
    variant: byId('variant'),
    tag: byId('tag'),
    order: byId('order'),
  };
  const valueOf = (name) => (controls[name] ? controls[name].value : '');
  const words = new Map();
  const wordsOf = (row) => {
    if (!words.has(row)) words.set(row, row.querySelector('.case-name').textContent.toLowerCase());
    return words.get(row);
  };
  const bySize = (name, sign) => (a, b) =>
    sign * (Number(a.dataset[name]) - Number(b.dataset[name])) ||
    a.dataset.index - b.dataset.index;
  const orders = {
    '': bySize('index', 1),
    worst: bySize('rate', 1),
    slow: bySize('duration', -1),
    cost: bySize('cost', -1),
  };
  const shownNote = byId('shown');
  const wholeNote = shownNote.textContent;
  let filter = 'all';
  let order = '';

  const inScope = (values) => {
    const all = values.split(' ');
    return valueOf('variant') === '' ? all : [all[Number(valueOf('variant'))]];
  };
  const passes = {
    all: () => true,
    failed: (data) => inScope(data.outcomes).includes('failed'),
    flaky: (data) => inScope(data.outcomes).includes('flaky'),
    passed: (data) => {
      const outcomes = inScope(data.outcomes);
      const isFine = (outcome) => outcome === 'passed' || outcome === 'none';
      return outcomes.every(isFine) && outcomes.includes('passed');
    },
    regressed: (data) => inScope(data.changes).includes('regressed'),
    improved: (data) => inScope(data.changes).includes('improved'),
    error: (data) => data.error === 'true',
  };

  const apply = () => {
    const search = valueOf('search').trim().toLowerCase();
    const tag = valueOf('tag');
    let count = 0;
    for (const row of rows) {
      const isShown =
        passes[filter](row.dataset) &&
        (tag === '' || row.dataset.tags.split('\n').includes(tag)) &&
        (search === '' || wordsOf(row).includes(search));
      row.hidden = !isShown;
      if (isShown) count++;
    }
    shownNote.textContent =
      count === rows.length ? wholeNote : count + ' of ' + rows.length + ' cases';
    byId('none-shown').hidden = count > 0 || rows.length === 0;
    if (order !== valueOf('order')) {
      order = valueOf('order');
      list.append(...rows.toSorted(orders[order]));
    }
  };
  const choose = (name) => {
    filter = name;
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.dataset.filter === name));
    }
    apply();
  };
  const reset = () => {
    for (const name of ['search', 'variant', 'tag']) if (controls[name]) controls[name].value = '';
    choose('all');
  };

  for (const button of buttons) {
    button.addEventListener('click', () => choose(button.dataset.filter));
  }
  for (const control of Object.values(controls)) {
    if (control) control.addEventListener('input', apply);
  }
  byId('reset').addEventListener('click', () => {
    reset();
    controls.search.focus();
  });
  // The markup of the page itself, which the policy knows by the hash of this script.
  const markup = globalThis.trustedTypes?.createPolicy('details', { createHTML: (text) => text });
  const fill = (details) => {
    const stored = details.querySelector(':scope > noscript');
    if (!stored) return;
    const text = markup ? markup.createHTML(stored.textContent) : stored.textContent;
    stored.replaceWith(...new DOMParser().parseFromString(text, 'text/html').body.childNodes);
    for (const line of details.querySelectorAll('.session')) {
      line.append(copyButton(line.firstElementChild));
    }
  };
  const open = (row) => {
    fill(row.firstElementChild);
    row.firstElementChild.open = true;
  };
  const copyButton = (source) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = 'Selected';
      }
    });
    return button;
  };
  list.addEventListener('toggle', ({ target }) => fill(target), true);
  // More cases that are open at once than a browser lays out quickly.
  byId('open-all').addEventListener('click', () => {
    for (const row of rows.filter((one) => !one.hidden).slice(0, 200)) open(row);
  });
  byId('close-all').addEventListener('click', () => {
    for (const row of rows) row.firstElementChild.open = false;
  });

  const openTarget = () => {
    const row = /^#case-\d+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
    if (!row) return;
    if (row.hidden) reset();
    open(row);
    row.scrollIntoView({ block: 'start' });
    row.querySelector('summary').focus({ preventScroll: true });
  };
  addEventListener('hashchange', openTarget);
  // The same link a second time changes no hash.
  document.addEventListener('click', ({ target }) => {
    const selector = 'a[href="' + location.hash + '"]';
    const link = target instanceof Element ? target.closest(selector) : null;
    if (link && location.hash !== '') openTarget();
  });

  byId('toolbar').hidden = false;
  openTarget();
})();
`;
