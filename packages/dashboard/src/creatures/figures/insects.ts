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
  round,
} from './shapes.ts';

export const lunaMoth: Figure = [
  ...bothMoving(
    area(
      'M31 22C26 10 14 6 4 10c0 10 4 18 13 20-6 3-8 9-6 15 2 5 4 9 2 15 6-4 8-10 8-15 4-3 8-8 10-15Z',
    ),
    eye(17, 19, 2.6),
    eye(19, 38, 1.7),
  ),
  box(29.2, 18, 5.6, 24, 2.8),
  line('M31 19c-1-5-4-8-8-9M33 19c1-5 4-8 8-9', 1.9),
];

export const butterfly: Figure = [
  moving(
    'sway',
    area('M20 44C10 24 22 4 56 3c7 14 4 27-9 32 8 4 9 13 4 22-13 3-24-2-31-13Z'),
    eye(44, 17, 5),
    eye(41, 46, 3.6),
    cut('M22 41c8-1 17-3 25-6M27 30l9-9', 2),
  ),
  line('M9 54l15-13', 5.4),
  dot(8, 53, 4.2),
  line('M7 51C5 45 5 40 8 34M5 52c-2-3-3-6-3-10', 2.2),
];

export const firefly: Figure = [
  line('M29 9c-2-4-5-6-9-6M35 9c2-4 5-6 9-6', 2.2),
  dot(32, 12, 6.4),
  ...bothMoving(area('M29 20C18 14 7 20 3 36c11 4 21 1 26-8Z')),
  area('M24 20c0-3 16-3 16 0l3 20c0 9-5 14-11 14s-11-5-11-14Z'),
  hole(round(32, 43, 6.6, 7)),
  cut('M32 20v12M24 31h16', 1.8),
  moving('sway', line('M32 58v4M21 55l-3 4M43 55l3 4', 3)),
  oval(32, 43, 2.6, 3),
];

export const spider: Figure = [
  line('M32 18V2', 2),
  ...bothMoving(
    line(
      'M27 27C18 24 14 17 13 8M24 32C14 32 8 27 4 20M23 40C13 39 7 45 4 54M26 46c-6 2-9 7-10 14',
      3.4,
    ),
  ),
  dot(32, 25, 7.4),
  dot(32, 41, 12),
  eye(29.2, 24, 1.8),
  eye(34.8, 24, 1.8),
  cut('M32 36v10M27.5 41h9', 2.2),
  ...both(cut('M29 29.5v1', 1.2)),
];
