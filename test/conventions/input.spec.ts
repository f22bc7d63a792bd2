import { type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { getMetadataStorage } from 'class-validator';
import { InputsPipe } from '../../src/platform/bulk/inputs';
import { isPure } from '../../src/platform/input/pure';
import { expectError, expectSuccess, times } from '../../src/platform/testing';
import { User } from '../../src/resources/users/user.entity';
import type { TestUser } from '../support/test-api';
import { aThing, useThings } from '../support/use-things';

describe('what comes in', () => {
  const { api, understood, refused } = useThings();
  let ada: TestUser;

  beforeAll(async () => {
    ada = await api.user({ username: 'ada' });
  });

  describe('as an attribute that nobody knows', () => {
    const names = [
      'more',
      'Title',
      'title ',
      '',
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
      'isPrototypeOf',
      'then',
      'toJSON',
    ];

    it.each(names)('is refused: %j', async (name) => {
      const body = `{"title":"thing",${JSON.stringify(name)}:{"polluted":true}}`;

      await refused(body, { [name]: 'unknown' });
      await refused(body.replace('{"polluted":true}', 'null'), { [name]: 'unknown' });
      expectError(await api.patch('/things/1', body), 'VALIDATION_ERROR', { fields: { [name]: 'unknown' } });
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });

    it.each(names.filter((name) => name !== ''))('is refused in an item of a list: %j', async (name) => {
      const item = `{"product_id":1,"quantity":1,${JSON.stringify(name)}:1}`;

      await refused(`{"title":"thing","items":[${item}]}`, { [`items.0.${name}`]: 'unknown' });
    });

    // A PUT ignores the first four: see every-attribute.spec.ts.
    it.each(['id', 'created_at', 'updated_at', 'version', 'deleted_at', 'password_hash', 'username_key', 'email_key'])(
      'is refused where the database has a column %s',
      async (name) => {
        const isIgnored = ['id', 'created_at', 'updated_at', 'version'].includes(name);
        const other = await api.user();
        const before = await api.repository(User).findOneByOrFail({ id: other.id });

        const fields = { [name]: 'unknown' };
        const body = { username: 'overwritten', email: 'overwritten@example.com', [name]: other.id };
        expectError(await api.post('/users', { ...body, password: 'long enough' }), 'VALIDATION_ERROR', { fields });
        const replaced = await api.as(ada).put(`/users/${ada.id}`, body);
        if (isIgnored) expect(replaced).toMatchObject({ status: 200, body: { data: { id: ada.id } } });
        else expectError(replaced, 'VALIDATION_ERROR', { fields });
        expectError(await api.as(ada).patch(`/users/${ada.id}`, { [name]: other.id }), 'VALIDATION_ERROR', { fields });

        expect(await api.repository(User).findOneByOrFail({ id: other.id })).toEqual(before);
      },
    );

    it('has no way around the validation: each body and query is a class with rules', () => {
      expect(unvalidatedInputs(api.app.nest.get(DiscoveryService, { strict: false }))).toEqual([]);
    });

    it('is validated once where it is the query of a list: its rules depend on the query alone', () => {
      const inputs = inputsOf(api.app.nest.get(DiscoveryService, { strict: false }));
      const queries = inputs.filter(({ kind }) => kind === RouteParamtypes.QUERY);

      expect(queries.length).toBeGreaterThan(5);
      expect(queries.filter(({ type }) => !isPure(type as Type<object>)).map(({ name }) => name)).toEqual([]);
    });
  });

  describe('as a number', () => {
    it.each([0, 0.1, 0.01, 9.95, 1e2, 1234567890.12, 9999999999.99])('may be an amount of money: %d', async (price) => {
      expect(await understood(aThing({ price }))).toMatchObject({ price });
    });

    it.each([
      ['0.001', 'decimals'],
      ['0.1000000001', 'decimals'],
      ['1e-7', 'decimals'],
      ['-0.01', 'range'],
      ['10000000000', 'range'],
      ['1e400', 'type'],
      ['"1"', 'type'],
      ['""', 'type'],
      ['null', 'type'],
      ['true', 'type'],
      ['[1]', 'type'],
    ])('may not be an amount of money: %s', async (price, rule) => {
      await refused(`{"title":"thing","price":${price}}`, { price: rule });
    });

    it.each([
      ['1.5', 'type'],
      ['"1"', 'type'],
      ['true', 'type'],
      ['null', 'type'],
      ['[]', 'type'],
      ['1e400', 'type'],
      ['-1', 'range'],
      ['2147483648', 'range'],
      ['1e300', 'range'],
    ])('may not be a whole number: %s', async (stock, rule) => {
      await refused(`{"title":"thing","stock":${stock}}`, { stock: rule });
    });

    it.each([
      ['0', 'range'],
      ['-1', 'range'],
      ['9007199254740993', 'range'],
      ['9223372036854775807', 'range'],
      ['1.5', 'type'],
      ['"1"', 'type'],
      ['false', 'type'],
    ])('may not be an id in a body: %s', async (id, rule) => {
      await refused(`{"title":"thing","parent_id":${id}}`, { parent_id: rule });
    });

    it('may be the largest id that there is', async () => {
      const parent_id = Number.MAX_SAFE_INTEGER;

      expect(await understood(aThing({ parent_id }))).toMatchObject({ parent_id });
    });
  });

  describe('as one or some of a list', () => {
    it.each(['GONE', 'new', '', 'toString', '__proto__', null, 0, ['NEW'], {}])(
      'is none of the names: %j',
      async (status) => {
        await refused(aThing({ status }), { status: 'enum' });
      },
    );

    it.each([
      ['RED', 'type'],
      [{ 0: 'RED' }, 'type'],
      [null, 'type'],
      [[], 'length'],
      [['GREEN'], 'enum'],
      [['RED', null], 'enum'],
      [['RED', 'RED'], 'unique'],
    ])('is no list of different names: %j', async (tags, rule) => {
      await refused(aThing({ tags }), { tags: rule });
    });

    it.each([
      [[], 'length'],
      [times(4, () => ({ product_id: 1, quantity: 1 })), 'length'],
      ['[]', 'type'],
      [null, 'type'],
      [[1], 'type'],
      [[null], 'type'],
      [[[]], 'type'],
      [{ product_id: 1, quantity: 1 }, 'type'],
    ])('is no list of items: %j', async (items, rule) => {
      await refused(aThing({ items }), { items: rule });
    });

    it('is read as it was sent', async () => {
      const thing = aThing({ status: 'OLD', tags: ['BLUE', 'RED'], items: [{ product_id: 7, quantity: 2 }] });

      expect(await understood(thing)).toEqual({ stock: 0, ...thing });
    });
  });

  describe('as null', () => {
    it.each(['title', 'content', 'price', 'stock', 'status', 'tags', 'items'])(
      'is refused for %s, in a PATCH too',
      async (name) => {
        const rule = name === 'status' ? 'enum' : 'type';

        await refused(aThing({ [name]: null }), { [name]: rule });
        expectError(await api.patch('/things/1', { [name]: null }), 'VALIDATION_ERROR', { fields: { [name]: rule } });
      },
    );

    it.each(['username', 'email', 'password', 'status', 'roles'])('is refused for %s of a user', async (name) => {
      const answer = await api.as(ada).patch(`/users/${ada.id}`, { [name]: null });

      expectError(answer, 'VALIDATION_ERROR', { fields: { [name]: name === 'status' ? 'enum' : 'type' } });
    });

    it('is a value where the attribute may be null, and left out is left out', async () => {
      const changes = async (body: object) => expectSuccess(await api.patch('/things/1', body));

      expect(await changes({ parent_id: null })).toEqual({ id: 1, parent_id: null });
      expect(await changes({})).toEqual({ id: 1 });
    });
  });
});

const INPUTS: number[] = [RouteParamtypes.BODY, RouteParamtypes.QUERY];

type Constructor = new (...args: unknown[]) => unknown;

interface Input {
  name: string;
  kind: RouteParamtypes;
  type: Constructor;
  /** The name of a single value, as in `@Query('page')`. */
  data?: string;
}

/** Bodies and queries that come as a map, or as one value of it, which the validation lets pass. */
function unvalidatedInputs(discovery: DiscoveryService): string[] {
  return inputsOf(discovery)
    .filter(({ type, data }) => data !== undefined || rulesOf(type) === 0)
    .map(({ name, kind }) => `${name}: ${RouteParamtypes[kind]}`);
}

function inputsOf(discovery: DiscoveryService): Input[] {
  return discovery.getControllers().flatMap(({ metatype }) => {
    const controller = metatype as Constructor;
    return new MetadataScanner().getAllMethodNames(controller.prototype as object).flatMap((method) => {
      const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
        string,
        { data?: string; pipes?: unknown[] }
      >;
      const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ??
        []) as Constructor[];
      return Object.entries(parameters)
        .map(([key, { data, pipes = [] }]) => {
          const [kind, index] = key.split(':').map(Number);
          const inputs = pipes.find((pipe) => pipe instanceof InputsPipe);
          return { kind, type: (inputs?.type as Constructor | undefined) ?? types[index], data };
        })
        .filter(({ kind }) => INPUTS.includes(kind))
        .map((input) => ({ name: `${controller.name}.${method}`, ...input }));
    });
  });
}

function rulesOf(type: Constructor): number {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false).length;
}
