import { memo } from 'react';
import { Link } from 'wouter';
import { pathOf } from '../../../address/paths.ts';
import { firstLine } from '../../../components/visible-text.ts';
import { useChosenCreatures } from '../../../creatures/chosen-creatures.ts';
import { Creature } from '../../../creatures/creature.tsx';
import { type Zone, zones } from '../../../creatures/registry.ts';
import { StateGlyph } from '../../../creatures/state-glyph.tsx';
import { stateWords } from '../../../creatures/states.ts';
import { atWork, creatureAt, type Place } from '../live/places.ts';
import type { Shown } from '../live/shown.ts';
import type { ShownAt } from '../live/use-shown.ts';
import styles from './habitat.module.css';

interface HabitatProps {
  readonly places: readonly Place[];
  readonly shown: ShownAt;
}

/** The creatures of the app in their zones: each keeps its place, whatever it does. */
export function Habitat({ places, shown }: HabitatProps) {
  return (
    <section className={styles['habitat']} aria-label="Creatures">
      {zones.map((zone) => (
        <ZoneOfCreatures
          key={zone}
          zone={zone}
          places={places.filter((place) => place.zone === zone)}
          shown={shown}
        />
      ))}
    </section>
  );
}

interface ZoneProps extends HabitatProps {
  readonly zone: Zone;
}

const idle: Shown = { state: 'idle' };

function ZoneOfCreatures({ zone, places, shown }: ZoneProps) {
  return (
    <section className={styles['zone']} data-zone={zone} aria-label={zone}>
      <header className={styles['head']}>
        <h2>{zone}</h2>
        <span>
          {atWork(places, shown)} of {places.length} at work
        </span>
      </header>
      <ul className={styles['den']}>
        {places.map((place) => (
          <li key={place.key}>
            <CreatureAtPlace place={place} shown={shown.get(place.key) ?? idle} />
          </li>
        ))}
      </ul>
      {places.length > 0 ? null : <p className={styles['none']}>This app has no agents yet.</p>}
      <Ground zone={zone} />
    </section>
  );
}

interface CreatureAtPlaceProps {
  readonly place: Place;
  readonly shown: Shown;
}

const CreatureAtPlace = memo(function CreatureAtPlace({ place, shown }: CreatureAtPlaceProps) {
  const { state, note, session } = shown;
  const creature = creatureAt(place, useChosenCreatures());
  const word = stateWords[state];
  const words = note === undefined ? word : firstLine(note, 80);
  const href = session === undefined ? place.href : pathOf('sessions', session);
  const inside = (
    <>
      <Creature name={creature} size={56} state={state} zone={place.zone} />
      <span className={styles['label']}>{place.label}</span>
      <span className={styles['note']}>
        <StateGlyph state={state} />
        {note === undefined ? null : <span className="only-read">{word}:</span>}
        <span className="cut">{words}</span>
      </span>
    </>
  );
  const about = {
    className: styles['creature'] ?? '',
    'data-state': state,
    title: `${place.label}, ${creature}: ${word}${note === undefined ? '' : `, ${words}`}`,
  };
  return href === undefined ? (
    <span {...about}>{inside}</span>
  ) : (
    <Link {...about} href={href}>
      {inside}
    </Link>
  );
});

const grounds: Readonly<Record<Zone, { readonly d: string; readonly width: number }>> = {
  listening: { d: 'M0 14c10-8 20-8 30 0s20 8 30 0 20-8 30 0 20 8 30 0', width: 1 },
  thinking: {
    d: 'M15 12h.01M45 18h.01M75 9h.01M105 16h.01M30 21h.01M92 22h.01',
    width: 2.4,
  },
  acting: { d: 'M0 20h120M12 20v-5M36 20v-9M60 20v-5M84 20v-9M108 20v-5', width: 1 },
};

/** Ground of a zone: water, stars, a floor. */
function Ground({ zone }: { readonly zone: Zone }) {
  const { d, width } = grounds[zone];
  return (
    <svg className={styles['ground']} aria-hidden="true">
      <defs>
        <pattern id={`ground-${zone}`} width="120" height="26" patternUnits="userSpaceOnUse">
          <path d={d} fill="none" stroke="currentColor" strokeWidth={width} strokeLinecap="round" />
        </pattern>
      </defs>
      <rect width="100%" height="26" fill={`url(#ground-${zone})`} />
    </svg>
  );
}
