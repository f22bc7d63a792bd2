import { faker } from '@faker-js/faker/locale/en';
import type { Random } from './random';

// Only faker's lists are used: its functions for names take longer than making a row.
const { first_name, last_name } = faker.definitions.person;
const FIRST_NAMES = [...new Set([first_name.female, first_name.male].flatMap((names) => names ?? []))];
const LAST_NAMES = last_name.generic ?? [];

export const firstName = (random: Random): string => random.pick(FIRST_NAMES);
export const lastName = (random: Random): string => random.pick(LAST_NAMES);
