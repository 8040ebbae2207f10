import type { Figure } from './figures/shapes.ts';
import type { CreatureName } from './registry.ts';

type File = Readonly<Record<string, Figure>>;

const beasts = (): Promise<File> => import('./figures/beasts.ts');
const birds = (): Promise<File> => import('./figures/birds.ts');
const hoofed = (): Promise<File> => import('./figures/hoofed.ts');
const insects = (): Promise<File> => import('./figures/insects.ts');
const made = (): Promise<File> => import('./figures/made.ts');
const people = (): Promise<File> => import('./figures/people.ts');
const sea = (): Promise<File> => import('./figures/sea.ts');
const serpents = (): Promise<File> => import('./figures/serpents.ts');

/** File of each figure: loaded when one of its figures is first shown. */
const files: Readonly<Record<CreatureName, () => Promise<File>>> = {
  ...{ cerberus: beasts, chimera: beasts, griffin: beasts, lion: beasts },
  ...{ manticore: beasts, sphinx: beasts },
  ...{ eagle: birds, hawk: birds, hummingbird: birds, ibis: birds, owl: birds },
  ...{ phoenix: birds, 'phoenix-ash': birds, roc: birds },
  ...{ centaur: hoofed, minotaur: hoofed, pegasus: hoofed, unicorn: hoofed },
  ...{ butterfly: insects, firefly: insects, 'luna-moth': insects, spider: insects },
  ...{ clockwork: made, djinn: made, gargoyle: made, golem: made },
  ...{ archivist: people, fairy: people, librarian: people, mnemosyne: people, nymph: people },
  ...{ oracle: people, pythia: people, scribe: people },
  ...{ jellyfish: sea, kraken: sea, leviathan: sea, narwhal: sea, seahorse: sea, selkie: sea },
  ...{ siren: sea, starfish: sea },
  ...{ basilisk: serpents, chameleon: serpents, dragon: serpents, hydra: serpents },
  ...{ ouroboros: serpents, serpent: serpents },
};

const loaded = new Map<CreatureName, Figure>();

/** Returns a figure that was loaded before. */
export function loadedFigure(name: CreatureName): Figure | undefined {
  return loaded.get(name);
}

/** Loads a figure. A file that does not come leaves the creature without one. */
export async function loadFigure(name: CreatureName): Promise<Figure | undefined> {
  try {
    const figure = (await files[name]())[camelCase(name)];
    if (figure !== undefined) loaded.set(name, figure);
    return figure;
  } catch {
    return undefined;
  }
}

function camelCase(name: string): string {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
