import { describe, expect, it } from 'vitest';
import { atWork, creatureAt, placesOfApp, placesOfDemo } from './places.ts';

describe('the places of an app', () => {
  it('are its components in their order, then its agents', () => {
    const places = placesOfApp(['clerk', 'mail'], new Set());
    expect(places.filter(({ zone }) => zone === 'listening')).toHaveLength(6);
    expect(places.slice(-2)).toEqual([
      {
        key: 'agent clerk',
        zone: 'acting',
        subject: 'clerk',
        label: 'clerk',
        href: '/agents/clerk',
      },
      { key: 'agent mail', zone: 'acting', subject: 'mail', label: 'mail', href: '/agents/mail' },
    ]);
  });

  it('grow by a component that was heard of, which takes its place among the others', () => {
    const before = placesOfApp([], new Set()).map(({ key }) => key);
    const after = placesOfApp([], new Set(['ouroboros'])).map(({ key }) => key);
    expect(after.filter((key) => key !== 'ouroboros')).toEqual(before);
    expect(after.indexOf('ouroboros')).toBe(after.indexOf('dragon') + 1);
  });

  it('are all creatures when all are asked for, each once', () => {
    const none = placesOfApp([], new Set(), { showsAll: true });
    expect(new Set(none.map(({ key }) => key)).size).toBe(48);
    const some = placesOfApp(['mail'], new Set(), { showsAll: true, chosen: { mail: 'lion' } });
    const standing = some.map((place) => creatureAt(place, { mail: 'lion' }));
    expect(standing).toHaveLength(48);
    expect(new Set(standing).size).toBe(48);
  });

  it('have the creature that the reader has chosen', () => {
    const [place] = placesOfApp([], new Set());
    expect(place && creatureAt(place, {})).toBe('jellyfish');
    expect(place && creatureAt(place, { http: 'hawk' })).toBe('hawk');
  });

  it('lead to an address of any name', () => {
    const [place] = placesOfApp(['a/b c'], new Set()).slice(-1);
    expect(place?.href).toBe('/agents/a%2Fb%20c');
  });
});

describe('the places of the demo', () => {
  it('have those that the demo moves', () => {
    const keys = placesOfDemo().map(({ key }) => key);
    for (const key of ['ibis', 'clockwork', 'golem', 'roc', 'phoenix-ash', 'scribe'])
      expect(keys).toContain(key);
    expect(placesOfDemo({ showsAll: true })).toHaveLength(48);
  });
});

describe('the count of a zone', () => {
  it('has those that begin and those that work', () => {
    const places = placesOfApp(['a', 'b', 'c'], new Set()).slice(-3);
    const shown = new Map([
      ['agent a', { state: 'working' as const }],
      ['agent b', { state: 'activating' as const }],
      ['agent c', { state: 'yielding' as const }],
    ]);
    expect(atWork(places, shown)).toBe(2);
  });
});
