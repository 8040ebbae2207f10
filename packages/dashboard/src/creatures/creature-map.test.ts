import { describe, expect, it } from 'vitest';
import { creatureFor, readCreatureMap, withChoice } from './creature-map.ts';
import { creatureOf } from './registry.ts';

describe('the creature of a name', () => {
  it('is that of the process, the component, the label or the creature', () => {
    expect(creatureFor('error_router')).toBe('dragon');
    expect(creatureFor('scheduler')).toBe('clockwork');
    expect(creatureFor('Research')).toBe('manticore');
    expect(creatureFor('luna-moth')).toBe('luna-moth');
  });

  it('is always the same acting one for a name that nobody knows', () => {
    for (const name of ['collector', 'invoice clerk', '', 'toString', '代理人']) {
      expect(creatureFor(name)).toBe(creatureFor(name));
      expect(creatureOf(creatureFor(name)).zone).toBe('acting');
    }
  });

  it('differs between many names', () => {
    const names = Array.from({ length: 200 }, (_, i) => `agent-${i}`);
    expect(new Set(names.map((name) => creatureFor(name))).size).toBe(16);
  });

  it('is the one that the reader has chosen', () => {
    expect(creatureFor('collector', { collector: 'owl' })).toBe('owl');
    expect(creatureFor('scheduler', { scheduler: 'lion' })).toBe('lion');
    expect(creatureFor('toString', {})).not.toBeUndefined();
  });
});

describe('the choices of the reader', () => {
  it('are added, changed and taken back', () => {
    const one = withChoice({}, 'collector', 'owl');
    expect(one).toEqual({ collector: 'owl' });
    expect(withChoice(one, 'collector', 'lion')).toEqual({ collector: 'lion' });
    expect(withChoice(one, 'collector', undefined)).toEqual({});
  });

  it('are read from a text', () => {
    expect(readCreatureMap('{"collector":"owl"}')).toEqual({ collector: 'owl' });
  });

  it('are without what is no choice', () => {
    expect(readCreatureMap('{"a":"owl","b":"cat","c":1,"d":null}')).toEqual({ a: 'owl' });
    for (const text of [null, '', 'null', '[', '"owl"', '7'])
      expect(readCreatureMap(text)).toEqual({});
  });

  it('are not read without end', () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`a${i}`, 'owl']));
    expect(Object.keys(readCreatureMap(JSON.stringify(many)))).toHaveLength(500);
  });
});
