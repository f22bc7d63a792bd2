// The callers of a load: many users, through a proxy, with many addresses.
import jwt from 'jsonwebtoken';
import { PROXY_HEADERS } from './server-process.mjs';

const ADDRESSES = 1_000;

/** Tokens for `nest`, which doesn't know the product's issuer. */
export function nestTokens({ jwtSecret }, data) {
  const token = (id, ...roles) => jwt.sign({ sub: String(id), roles }, jwtSecret, { expiresIn: '1d' });
  return {
    user: data.callers.map(({ id }) => token(id, 'USER')),
    admin: data.admins.map(({ id }) => token(id, 'USER', 'ADMIN')),
  };
}

/** @param as `user`, `admin`, or undefined for anonymous callers */
export function headersOf(tokens, as, place) {
  const headers = { ...PROXY_HEADERS, 'X-Forwarded-For': addressOf(place % ADDRESSES) };
  if (as !== undefined) headers.Authorization = `Bearer ${tokens[as][place % tokens[as].length]}`;
  return headers;
}

function addressOf(number) {
  return `10.20.${Math.floor(number / 250)}.${1 + (number % 250)}`;
}
