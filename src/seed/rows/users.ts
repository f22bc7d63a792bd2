import { identityKey } from '../../platform/accounts';
import { UserStatus } from '../../resources/users/user.entity';
import type { Random } from './random';
import { firstName, lastName } from './names';
import { countAt, originOf, type Seed, type World } from './world';

const MAX_USERNAME = 20;
const DOMAINS = ['example.com', 'example.net', 'example.org'];

/** Unless `--users` says another number. */
const USERS = 1_000;

export const users: Seed = {
  noun: 'users',
  usually: `${USERS} unless given, and the numbers below follow from it`,
  count: () => USERS,
  tables: { users: makeUser },
};

function makeUser(world: World, place: number) {
  const { random, created_at } = originOf(world, 'users', place);
  const id = world.ids.users[place];
  const first = firstName(random);
  const last = lastName(random);
  const username = usernameOf(random, first, last, id);
  const email = `${username}@${random.pick(DOMAINS)}`;
  return {
    id,
    created_at,
    updated_at: created_at,
    username,
    username_key: identityKey(username),
    email,
    email_key: identityKey(email),
    password_hash: world.passwordHash,
    name: random.chance(0.95) ? `${first} ${last}` : null,
    status: random.chance(0.97) ? UserStatus.ACTIVE : UserStatus.SUSPENDED,
  };
}

/** A user who existed at a time. */
export function someUser(world: World, random: Random, time: number): { id: number; created_at: Date } {
  const place = random.below(countAt(world, 'users', time));
  return { id: world.ids.users[place], created_at: originOf(world, 'users', place).created_at };
}

/** The id at the end makes the name unique; see reserveIds(). */
function usernameOf(random: Random, firstName: string, lastName: string, id: number): string {
  const first = lettersOf(firstName);
  const last = lettersOf(lastName);
  const stem = random.pick([first, `${first}.${last}`, `${first}_${last}`, `${first[0]}${last}`]);
  return stem.slice(0, MAX_USERNAME - String(id).length) + id;
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
