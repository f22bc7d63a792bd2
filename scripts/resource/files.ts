import { existsSync, readFileSync } from 'node:fs';
import { editsOfPlan } from './edits';
import type { Plan } from './plan';
import { RESOURCES } from './project';
import { controllerFile, nestedControllerFile, nestedFileOf } from './templates/controller';
import { demoFile } from './templates/demo';
import { descriptionFile } from './templates/description';
import { dtoFile } from './templates/dto';
import { entityFile } from './templates/entity';
import { migrationFile } from './templates/migration';
import { moduleFile } from './templates/module';
import { serviceFile } from './templates/service';
import { specFile } from './templates/spec';

export const MIGRATIONS = 'src/migrations';

/** The texts of all files that a resource needs, by path, before they are formatted: new ones, and changed ones. */
export function textsOf(plan: Plan, time: number): Map<string, string> {
  const { names, parent } = plan;
  const { noun, file } = names;
  const folder = `${RESOURCES}/${noun}`;
  const made: [string, string][] = [
    [`${folder}/${file}.dto.ts`, dtoFile(plan)],
    [`${folder}/${file}.entity.ts`, entityFile(plan)],
    [`${folder}/${noun}.controller.ts`, controllerFile(plan)],
    [`${folder}/${noun}.module.ts`, moduleFile(plan)],
    [`${folder}/${noun}.service.ts`, serviceFile(plan)],
    ...(parent ? [[`${folder}/${nestedFileOf(plan)}.ts`, nestedControllerFile(plan)] as [string, string]] : []),
    [`${MIGRATIONS}/${time}-add-${noun}.ts`, migrationFile(plan, time)],
    [`src/demo/${noun}.ts`, demoFile(plan)],
    [`test/support/resources/${noun}.ts`, descriptionFile(plan)],
    [`test/resources/${noun}.spec.ts`, specFile(plan)],
    ...editsOfPlan(plan).flatMap(({ path, add }): [string, string][] =>
      existsSync(path) ? [[path, add(readFileSync(path, 'utf8'))]] : [],
    ),
  ];
  return new Map(made.map(([path, text]) => [path, tidy(text)]));
}

/** Without the gaps that parts leave which a resource doesn't have. */
const tidy = (text: string) => text.replace(/\{\n\n/g, '{\n').replace(/\n{3,}/g, '\n\n');
