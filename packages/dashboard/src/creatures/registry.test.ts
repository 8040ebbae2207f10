import { describe, expect, it } from 'vitest';
import { loadedFigure, loadFigure } from './load-figure.ts';
import { creatureOf, creatures, isCreatureName, zones } from './registry.ts';

/** The creatures of each zone, as they were specified. */
const specified = {
  listening: 'jellyfish siren cerberus hydra ibis gargoyle',
  thinking:
    'owl ouroboros dragon kraken starfish narwhal spider phoenix basilisk sphinx griffin luna-moth ' +
    'butterfly firefly hummingbird chameleon hawk eagle oracle seahorse pythia mnemosyne archivist ' +
    'golem clockwork phoenix-ash',
  acting:
    'unicorn fairy centaur minotaur lion leviathan serpent chimera selkie nymph scribe pegasus ' +
    'librarian roc manticore djinn',
};

describe('the registry of creatures', () => {
  it('has 48 creatures in three zones', () => {
    expect(creatures).toHaveLength(48);
    for (const zone of zones)
      expect(
        creatures
          .filter((one) => one.zone === zone)
          .map(({ name }) => name)
          .sort(),
      ).toEqual(specified[zone].split(' ').sort());
  });

  it('gives each process and each label one creature', () => {
    for (const member of ['process', 'label'] as const)
      expect(new Set(creatures.map((one) => one[member])).size).toBe(48);
    const components = creatures.flatMap(({ components = [] }) => components);
    expect(new Set(components).size).toBe(components.length);
  });

  it('names the processes of the kernel and of the workers', () => {
    expect(creatureOf('golem')).toMatchObject({ process: 'kernel-supervisor', zone: 'thinking' });
    expect(creatureOf('clockwork').process).toBe('task-scheduler');
    expect(creatureOf('phoenix-ash').process).toBe('debugger-agent');
    expect(creatureOf('roc').process).toBe('worker-youtube');
    expect(creatureOf('manticore').process).toBe('worker-research');
    expect(creatureOf('djinn').process).toBe('worker-claude-code');
  });

  it('knows a creature from any other text', () => {
    expect(isCreatureName('owl')).toBe(true);
    for (const text of ['Owl', '', 'toString', undefined, 1])
      expect(isCreatureName(text)).toBe(false);
  });
});

describe('the figures', () => {
  it('has a figure of its own for each creature', async () => {
    const figures = await Promise.all(creatures.map(({ name }) => loadFigure(name)));
    expect(figures.every((figure) => figure !== undefined && figure.length > 0)).toBe(true);
    expect(new Set(figures.map((figure) => JSON.stringify(figure))).size).toBe(48);
  });

  it('has a part that moves in each figure', async () => {
    for (const { name } of creatures)
      expect(JSON.stringify(await loadFigure(name)), name).toContain('"motion"');
  });

  it('keeps a figure that was loaded', async () => {
    const figure = await loadFigure('owl');
    expect(loadedFigure('owl')).toBe(figure);
  });
});
