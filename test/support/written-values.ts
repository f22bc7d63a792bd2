import { randomUUID } from 'node:crypto';
import type { Values } from './values';

/** Values of attributes that are texts of a form: addresses, days, moments and UUIDs. See values.ts. */

const NO_TEXTS = [1, true, {}, ['2026-01-31'], []];

interface Written {
  taken: [sent: string, stored: string][];
  refused: string[];
  /** The rule of texts that have another form. */
  rule: string;
  nullable?: boolean;
  fresh: (index: number) => string;
}

function written({ taken, refused, rule, fresh, nullable = false }: Written): Values {
  return {
    fresh,
    taken: [...(nullable ? [[null, null] as [null, null]] : []), ...taken],
    refused: [
      ...refused.map((text): [unknown, string] => [text, rule]),
      ...[...NO_TEXTS, ...(nullable ? [] : [null])].map((value): [unknown, string] => [value, 'type']),
    ],
  };
}

/** The moment so many days after the begin of 2000. */
const dayAfter = (days: number): string => new Date(Date.UTC(2000, 0, 1 + days)).toISOString();

const asItIs = (text: string): [string, string] => [text, text];

export const day = ({ nullable = false } = {}): Values =>
  written({
    taken: ['0001-01-01', '1582-10-10', '2024-02-29', '2026-03-29', '9999-12-31'].map(asItIs),
    refused: [
      ...['', '0000-01-01', '10000-01-01', '2026-2-3', '2026-02-29', '2026-04-31', '2026-13-01', '2026-00-10'],
      ...['2026-01-31T00:00:00Z', ' 2026-01-31', '2026-01-31 ', '20260131', '31.01.2026', 'infinity', 'today'],
      ...['٢٠٢٦-٠١-٣١', '-2026-01-31', '2026-01-31\n', `2026-01-31${' '.repeat(1_000)}`],
    ],
    rule: 'date',
    fresh: (index) => dayAfter(index).slice(0, '2000-01-01'.length),
    nullable,
  });

export const moment = ({ nullable = false } = {}): Values =>
  written({
    taken: [
      ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
      ['2026-01-31t13:30:00.5+01:30', '2026-01-31T12:00:00.500Z'],
      ['2026-01-31T23:59:59.999999999-23:59', '2026-02-01T23:58:59.999Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ],
    refused: [
      ...['', '2026-01-31', '2026-01-31T12:00:00', '2026-01-31T12:00Z', '2026-01-31 12:00:00Z', 'now', '1767225600000'],
      ...['2026-02-30T12:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:60Z'],
      ...[
        '0000-12-31T12:00:00Z',
        '0001-01-01T00:00:00+00:01',
        '9999-12-31T23:59:59-00:01',
        '2026-01-31T12:00:00+24:00',
      ],
    ],
    rule: 'moment',
    fresh: dayAfter,
    nullable,
  });

export const uuid = ({ nullable = false } = {}): Values =>
  written({
    taken: [
      asItIs('00000000-0000-0000-0000-000000000000'),
      asItIs('ffffffff-ffff-ffff-ffff-ffffffffffff'),
      ['3F0C6A2E-8F55-4B53-9A0E-0D1F6F5A7C11', '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11'],
    ],
    refused: [
      ...['', 'x', '3f0c6a2e8f554b539a0e0d1f6f5a7c11', '{3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c11}'],
      ...['3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c1', '3f0c6a2e-8f55-4b53-9a0e-0d1f6f5a7c1g', ' '.repeat(36)],
    ],
    rule: 'uuid',
    fresh: () => randomUUID(),
    nullable,
  });

const host = 'https://example.com';
export const webAddress = ({ nullable = false } = {}): Values => {
  const values = written({
    taken: [
      [host, `${host}/`],
      [' HTTPS://Example.COM:443/A?q=é#ü ', `${host}/A?q=%C3%A9#%C3%BC`],
      ['http://bücher.example:8080/', 'http://xn--bcher-kva.example:8080/'],
      [`${host}/a/../b`, `${host}/b`],
      [`${host}/?a[]=1|2&b=100%#x#y`, `${host}/?a%5B%5D=1%7C2&b=100%25#x%23y`],
      asItIs('http://[::1]/%41?x=@#@'),
      asItIs(`${host}/${'a'.repeat(2_048 - host.length - 1)}`),
    ],
    refused: [
      ...['', 'example.com', '//example.com', 'ftp://example.com', 'javascript:alert(1)', 'https:example.com'],
      ...[
        'https://',
        'https:///a',
        'https://ada@example.com',
        'https://ada:secret@example.com/',
        'https://@example.com',
      ],
      ...[
        'https://exa mple.com',
        'https://example.com/a b',
        'https://example.com/\u2028a',
        'https:\\\\example.com',
        'https://example.com\\@b.c',
      ],
      ...['https://exa%00mple.com', 'https://example.com:99999', 'https://[::1', `${host}/${'é'.repeat(500)}`],
    ],
    rule: 'url',
    fresh: (index) => `${host}/${index}`,
    nullable,
  });
  const others: [unknown, string][] = [
    [`${host}/${'a'.repeat(2_048 - host.length)}`, 'length'],
    [`${host}/\0`, 'characters'],
    [`${host}/\ud800`, 'encoding'],
  ];
  return { ...values, refused: [...values.refused, ...others] };
};
