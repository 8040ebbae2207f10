import {
  area,
  both,
  bothMoving,
  box,
  cut,
  dot,
  eye,
  type Figure,
  hole,
  line,
  moving,
  oval,
} from './shapes.ts';

export const golem: Figure = [
  box(21, 6, 22, 18, 5),
  box(14, 22, 36, 21, 6),
  ...bothMoving(box(5, 23, 12, 26, 5.5)),
  ...both(box(18, 40, 11.5, 18, 4)),
  hole('M25.5 13h4v4.5h-4ZM34.5 13h4v4.5h-4Z'),
  cut('M33 26l-3 4 4 3-3 5', 1.8),
  cut('M17.5 25.5v9M46.5 25.5v9', 1.6),
  line('M37 6c0-3 1-4 4-4.5', 2.2),
];

const teeth = Array.from({ length: 12 }, (_, i) => {
  const angle = (i * Math.PI) / 6;
  const at = (radius: number): string =>
    `${(32 + radius * Math.cos(angle)).toFixed(1)} ${(32 + radius * Math.sin(angle)).toFixed(1)}`;
  return `M${at(19)}L${at(23)}`;
}).join('');

export const clockwork: Figure = [
  line('M24 50l-4 10h-4M40 50l4 10h4', 3.4),
  line('M54 32h4', 3.4),
  oval(60, 28, 2.4, 3),
  oval(60, 36, 2.4, 3),
  moving('turn', line(teeth, 5.6), dot(32, 32, 19.5)),
  eye(32, 32, 13.5),
  moving('fast', line('M32 32v-8', 2.8)),
  line('M32 32l5.5 3.5', 2.8),
  dot(32, 32, 2.4),
];

export const gargoyle: Figure = [
  ...bothMoving(area('M25 36C15 33 9 21 9 4 2 17 1 36 9 51h14Z')),
  area('M18 51c-3-12 4-20 14-20s17 8 14 20Z'),
  ...both(area('M25 17L17 5l13 5Z')),
  area('M21 20c0-7 4-11 11-11s11 4 11 11c0 8-4 14-11 14s-11-6-11-14Z'),
  cut('M25.5 18l5 2.5M38.5 18l-5 2.5', 2.6),
  cut('M26.5 27h11M29 27v2.5M35 27v2.5', 1.7),
  ...both(oval(23, 46, 5, 6), cut('M23 42v8', 1.4)),
  cut('M8 51.5h48', 1.8),
  box(7, 52.5, 50, 9, 2),
];

export const djinn: Figure = [
  area('M22 20c0-7 4.5-12 10-12s10 5 10 12-4.5 10-10 10-10-3-10-10Z'),
  line('M32 8c0-3 2-5 5-5', 3),
  cut('M22.5 16.5c6 2.5 13 2.5 19 0'),
  eye(28.5, 21.5, 1.7),
  eye(35.5, 21.5, 1.7),
  line('M32 28v4', 6),
  area(
    'M14 34c2-4 9-5 18-5s16 1 18 5c1.5 3 .5 7-3 9.5C44 46 41 48 36 50c-4 1.5-6 3-4 5 2.5 2 8 .5 10-2 0' +
      ' 6-6 9-12 8-6.5-1-8-6.5-4-10C20 48 18 46 17 43.5 13.5 41 12.5 37 14 34Z',
  ),
  cut('M18 38c8 5 20 5 28 0', 2.4),
  cut('M25 42l3 1.8M39 42l-3 1.8'),
  moving('sway', dot(50, 53, 1.6), dot(54, 46, 1.2), dot(13, 52, 1.4)),
];
