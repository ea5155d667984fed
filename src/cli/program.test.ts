// The help of every command: short or grouped, and with something to copy.
import { type Command, type Help } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from './program.js';

const WIDTH = 80;
const SCREEN_LINES = 50;

function commandsBelow(command: Command): Command[] {
  return command.commands.flatMap((one) => [one, ...commandsBelow(one)]);
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => WIDTH });
  command.outputHelp();
  return text;
}

const program = createProgram(() => undefined);
const nameOf = (command: Command): string =>
  command.parent && command.parent !== program ? `${command.parent.name()} ${command.name()}` : command.name();
const all = commandsBelow(program).filter((command) => command.name() !== 'help');
const doing = all.filter(({ commands }) => commands.length === 0);

it.each(doing.map((command) => [nameOf(command), command] as const))('%s shows an example', (name, command) => {
  expect(helpOf(command)).toMatch(new RegExp(`Examples?:\\n(?: {2}\\$ .*\\n)*? {2}\\$ .*orcrawl ${name}`));
  expect(command.description()).not.toBe('');
});

it.each(all.map((command) => [nameOf(command), command] as const))('%s fits a screen or is grouped', (_, command) => {
  const lines = helpOf(command).split('\n');
  if (lines.length <= SCREEN_LINES) return;
  const help: Help = command.createHelp();
  const groups = help.groupItems([...command.options], help.visibleOptions(command), (option) => {
    return option.helpGroupHeading ?? 'Options:';
  });
  expect(groups.size).toBeGreaterThan(3);
  for (const [heading, options] of groups) expect([heading, options.length <= 12]).toEqual([heading, true]);
});
