import { faker } from '@faker-js/faker/locale/en';
import type { Random } from './random';

// Only faker's lists are used: its functions for names take longer than making a row.
const { location, color } = faker.definitions;

const QUALITIES = [
  'plain',
  'sturdy',
  'slim',
  'small',
  'large',
  'folding',
  'handmade',
  'recycled',
  'everyday',
  'travel',
];
const MATERIALS = [
  'oak',
  'bamboo',
  'linen',
  'steel',
  'brass',
  'wool',
  'cork',
  'leather',
  'glass',
  'stoneware',
  'cotton',
];

/** The products of the shop, with their approximate prices. */
const THINGS: [string, number][] = [
  ['apron', 28],
  ['backpack', 120],
  ['basket', 35],
  ['bench', 240],
  ['blanket', 85],
  ['bottle', 24],
  ['bowl', 19],
  ['bread board', 38],
  ['candle holder', 16],
  ['chair', 175],
  ['coat hook', 9],
  ['coffee dripper', 26],
  ['cushion', 32],
  ['desk lamp', 95],
  ['door stop', 12],
  ['hat', 45],
  ['jug', 42],
  ['key ring', 7],
  ['mug', 14],
  ['notebook', 11],
  ['pencil case', 17],
  ['picture frame', 23],
  ['plant pot', 15],
  ['scarf', 48],
  ['shelf', 130],
  ['soap dish', 10],
  ['spoon', 6],
  ['stool', 79],
  ['table', 420],
  ['teapot', 54],
  ['towel', 21],
  ['tray', 33],
  ['vase', 47],
  ['wall clock', 68],
];

export const city = (random: Random): string => random.pick(location.city_name);
export const colour = (random: Random): string => random.pick(color.human);
export const quality = (random: Random): string => random.pick(QUALITIES);
export const material = (random: Random): string => random.pick(MATERIALS);
export const thing = (random: Random): string => random.pick(THINGS)[0];
export const thingAndPrice = (random: Random): [string, number] => random.pick(THINGS);
