import type { Plan } from '../plan';
import { nestedClassOf, nestedFileOf } from './controller';
import { type Imports, servicesOf, withImports } from './source';

export function moduleFile(plan: Plan): string {
  const { names, parent } = plan;
  const { entity, plural, noun, file } = names;
  const services = servicesOf(plan).map((one) => one.names);
  const imported = services.map((one) => `, ${one.plural}Module`).join('');
  const controllers = [`${plural}Controller`, ...(parent ? [nestedClassOf(plan)] : [])];
  const code = `
@Module({
  imports: [TypeOrmModule.forFeature([${entity}])${imported}],
  controllers: [${controllers.join(', ')}],
  providers: [${plural}Service],
  exports: [${plural}Service],
})
export class ${plural}Module {}
`;
  // In the order of their paths.
  const own: Imports = [
    [`./${file}.entity`, [entity]],
    [`./${noun}.controller`, [`${plural}Controller`]],
    [`./${noun}.service`, [`${plural}Service`]],
    ...(parent ? [[`./${nestedFileOf(plan)}`, [nestedClassOf(plan)]] as Imports[number]] : []),
  ];
  const imports: Imports = [
    ['@nestjs/common', ['Module']],
    ['@nestjs/typeorm', ['TypeOrmModule']],
    ...services.map(({ noun, plural }): Imports[number] => [`../${noun}/${noun}.module`, [`${plural}Module`]]),
    ...own.sort(([one], [other]) => (one < other ? -1 : 1)),
  ];
  return withImports(code, imports);
}
