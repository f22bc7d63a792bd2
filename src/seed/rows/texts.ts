import type { Random } from './random';
import { firstName, lastName } from './names';
import { city, colour, material, quality, thing } from './words';

type Template = (random: Random) => string;

const few = (random: Random): number => 2 + random.below(10);

const TITLES: Template[] = [
  (random) => `How to look after your ${material(random)} ${thing(random)}`,
  (random) => `Meet the maker: ${firstName(random)} ${lastName(random)} of ${city(random)}`,
  (random) => `A week in ${city(random)} with one ${thing(random)}`,
  (random) => `Why we stopped selling the ${colour(random)} ${thing(random)}`,
  (random) => `What ${few(random)} years taught us about ${material(random)}`,
  (random) => `${capitalised(material(random))} or ${material(random)}?`,
  (random) => `The ${quality(random)} ${thing(random)}, taken apart`,
  (random) => `Notes from the workshop, no. ${random.below(400) + 1}`,
];

const SENTENCES: Template[] = [
  (random) => `We moved the workshop to ${city(random)} and have not looked back.`,
  (random) => `${firstName(random)} keeps the ${thing(random)} beside the ${thing(random)}, which is clever.`,
  (random) => `After ${few(random)} months the ${material(random)} shows hardly any wear.`,
  (random) => `The ${colour(random)} one sold out within ${few(random)} days.`,
  (random) => `It rained all week in ${city(random)}, so we tried the ${thing(random)} indoors.`,
  (random) => `Ask ${firstName(random)} about the ${thing(random)} before you order one.`,
  (random) => `A ${quality(random)} ${thing(random)} should outlive its owner.`,
  (random) => `Nobody told us that ${material(random)} needs oil twice a year.`,
  (random) => `We measured it ${few(random)} times and got the same number.`,
  (random) => `${firstName(random)} ${lastName(random)} sent photographs of the ${thing(random)} from ${city(random)}.`,
  (random) => `The first batch came back, as the ${colour(random)} was far too ${random.pick(['dark', 'bright'])}.`,
  (random) => `My ${thing(random)} fell down the stairs and only the ${material(random)} part broke.`,
  (random) => `You can have it in ${material(random)} or, for a little more, in ${material(random)}.`,
  (random) => `The post office in ${city(random)} lost ${few(random)} of them.`,
];

const REMARKS: Template[] = [
  () => 'Agreed.',
  () => 'Thanks for writing this up.',
  () => 'Not so sure about this.',
  () => 'That worked for me as well.',
  () => 'Could you say more about this?',
  () => 'Same here.',
  (random) => `Good point, ${firstName(random)}.`,
  (random) => `Does it come in ${colour(random)}?`,
  (random) => `I had that in ${city(random)}.`,
];

const DESCRIPTIONS: Template[] = [
  (random) => `Made in ${city(random)} by ${firstName(random)} ${lastName(random)}, in runs of ${few(random) * 10}.`,
  (random) => `Looks best beside a ${colour(random)} ${thing(random)}. Wipe with a damp cloth.`,
  (random) => `The ${quality(random)} one. Guaranteed for ${few(random)} years.`,
  (random) => `Packed in cardboard, with a spare part in ${material(random)}.`,
];

export const makeTitle: Template = (random) => random.pick(TITLES)(random);
export const makeSentence: Template = (random) => random.pick(SENTENCES)(random);
export const makeRemark: Template = (random) => random.pick(REMARKS)(random);
export const makeDescription: Template = (random) => random.pick(DESCRIPTIONS)(random);

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
