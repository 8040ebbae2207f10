/**
 * What the page does beyond showing: filters, search, order, links to cases, copying of commands. It makes no HTML from texts.
 * It is part of the page's policy by its hash, so that nothing else runs there.
 */
export const pageScript = String.raw`'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const list = byId('case-list');
  const rows = [...list.children];
  const buttons = [...document.querySelectorAll('.filter')];
  const controls = { search: byId('search'), variant: byId('variant'), tag: byId('tag'), order: byId('order') };
  const valueOf = (name) => (controls[name] ? controls[name].value : '');
  const words = new Map();
  const wordsOf = (row) => {
    if (!words.has(row)) words.set(row, row.querySelector('.case-name').textContent.toLowerCase());
    return words.get(row);
  };
  const bySize = (name, sign) => (a, b) => sign * (Number(a.dataset[name]) - Number(b.dataset[name])) || a.dataset.index - b.dataset.index;
  const orders = { '': bySize('index', 1), worst: bySize('rate', 1), slow: bySize('duration', -1), cost: bySize('cost', -1) };
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
    passed: (data) => inScope(data.outcomes).every((outcome) => outcome === 'passed' || outcome === 'none') && inScope(data.outcomes).includes('passed'),
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
    shownNote.textContent = count === rows.length ? wholeNote : count + ' of ' + rows.length + ' cases';
    byId('none-shown').hidden = count > 0 || rows.length === 0;
    if (order !== valueOf('order')) {
      order = valueOf('order');
      list.append(...rows.toSorted(orders[order]));
    }
  };
  const choose = (name) => {
    filter = name;
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.dataset.filter === name));
    apply();
  };
  const reset = () => {
    for (const name of ['search', 'variant', 'tag']) if (controls[name]) controls[name].value = '';
    choose('all');
  };

  for (const button of buttons) button.addEventListener('click', () => choose(button.dataset.filter));
  for (const control of Object.values(controls)) if (control) control.addEventListener('input', apply);
  byId('reset').addEventListener('click', () => {
    reset();
    controls.search.focus();
  });
  // Thousands of cases that are open at once are more than a browser can lay out.
  byId('open-all').addEventListener('click', () => {
    for (const row of rows.filter((one) => !one.hidden).slice(0, 200)) row.firstElementChild.open = true;
  });
  byId('close-all').addEventListener('click', () => {
    for (const row of rows) row.firstElementChild.open = false;
  });

  const openTarget = () => {
    const row = /^#case-\d+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
    if (!row) return;
    if (row.hidden) reset();
    row.firstElementChild.open = true;
    row.scrollIntoView({ block: 'start' });
    row.querySelector('summary').focus({ preventScroll: true });
  };
  addEventListener('hashchange', openTarget);
  // The same link a second time changes no hash.
  document.addEventListener('click', ({ target }) => {
    const link = target instanceof Element ? target.closest('a[href="' + location.hash + '"]') : null;
    if (link && location.hash !== '') openTarget();
  });

  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = 'Selected';
    }
  };
  // Buttons are made when a case is opened: most never are.
  list.addEventListener('toggle', ({ target }) => {
    if (!target.open) return;
    for (const line of target.querySelectorAll('.session:not(.has-copy)')) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Copy';
      button.addEventListener('click', () => copy(button, line.firstElementChild.textContent));
      line.classList.add('has-copy');
      line.append(button);
    }
  }, true);

  byId('toolbar').hidden = false;
  openTarget();
})();
`;
