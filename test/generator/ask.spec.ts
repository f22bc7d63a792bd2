import { spawnSync } from 'node:child_process';
import type { Answer } from './answering';

const ENTER = '\r';
const DOWN = '\u001b[B';
const PATIENCE_MS = 60_000;

/** The command that the answers lead to. */
function commandOf(wish: object, answers: Answer[]): string {
  const program = ['-r', '@swc-node/register', 'test/generator/answering.ts', JSON.stringify([wish, answers])];
  const { stdout, stderr, status } = spawnSync(process.execPath, program, { encoding: 'utf8', timeout: PATIENCE_MS });
  if (status !== 0) throw new Error(stdout + stderr);
  return stdout.trim();
}

/** The answers about an attribute that is chosen by what its line begins with. */
const attribute = (name: string, kind: string, ...others: Answer[]): Answer[] => [
  ['The name of', name + ENTER],
  [`What is ${name}?`, kind + ENTER],
  ...others,
];
const NO_MORE: Answer = ['The name of the next one', ENTER];
const IS_LIST = (answer: string): Answer => ['Is it a list?', answer + ENTER];
const LEFT_OUT = (downs: number): Answer => ['a body that leaves it out', DOWN.repeat(downs) + ENTER];

describe('npm run resource -- add, without attributes', () => {
  it('asks for everything, one question after the other', () => {
    const command = commandOf({}, [
      ['What are they called?', `invoices${ENTER}`],
      ...attribute('number', 'text', ['How many characters', `9${ENTER}`], IS_LIST('n'), LEFT_OUT(2)),
      ...attribute('paid', 'boolean', LEFT_OUT(2), ['Its default?', `false${ENTER}`]),
      ...attribute('labels', 'text', ['How many characters', ENTER], IS_LIST('y')),
      ...attribute('place', 'object', ['Which attributes?', `city:text(40)${ENTER}`], IS_LIST('n'), LEFT_OUT(1)),
      NO_MORE,
      ['Where does its collection stand?', ENTER],
      ['Does each belong to a user', `y${ENTER}`],
      ['Are deleted ones kept', `y${ENTER}`],
    ]);

    expect(command).toBe(
      "npm run resource -- add invoices 'number:text(9)!unique' 'paid:boolean=false' 'labels:text(120)[]' " +
        "'place:{city:text(40)}?' --owner --soft-delete",
    );
  });

  it('asks for what a command lacks', () => {
    const command = commandOf({ noun: 'credit-notes', owner: false }, [
      ...attribute('customer_id', 'reference', ['Of which resource?', `users${ENTER}`], IS_LIST('n'), LEFT_OUT(0)),
      NO_MORE,
      ['Where does its collection stand?', ENTER],
      ['Who reads them?', DOWN + ENTER],
      ['Who writes them?', ENTER],
      ['Are deleted ones kept', ENTER],
    ]);

    expect(command).toBe('npm run resource -- add credit-notes customer_id:users --read user --write user');
  });

  it('says what is wrong, and asks again', () => {
    const again = '\u007f'.repeat(20);
    const command = commandOf({ owner: true, softDelete: false }, [
      ['What are they called?', `invoice${ENTER}`],
      ['What is one of the invoice called?', `invoice${ENTER}`],
      ['must be another noun', `${'\u007f'.repeat(20)}bill${ENTER}`],
      ['The name of', `version${ENTER}`],
      ['is an attribute or a parameter', `${again}level${ENTER}`],
      ['What is level?', `whole${ENTER}`],
      ['From..to?', `9..1${ENTER}`],
      LEFT_OUT(0),
      ['needs bounds', `level${ENTER}`],
      ['What is level?', `whole${ENTER}`],
      ['From..to?', `1..9${ENTER}`],
      LEFT_OUT(0),
      NO_MORE,
      ['Where does its collection stand?', ENTER],
    ]);

    expect(command).toBe("npm run resource -- add invoice 'level:whole(1..9)' --singular bill --owner");
  });
});
