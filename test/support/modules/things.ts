import { Body, Controller, Get, Module, Patch, Post, Query } from '@nestjs/common';
import { PartialType } from '@nestjs/swagger';
import { Public } from '../../../src/platform/auth/access.decorators';
import { Answers } from '../../../src/platform/routes/route.decorators';
import { BodyLimit } from '../../../src/platform/pipeline/body-limit';
import { kibibytes } from '../../../src/platform/units';
import { EmailAddress, Id, ListOf, Money, OneOf, SomeOf, Text, Whole } from '../../../src/platform/input/attributes';
import { IdParam } from '../../../src/platform/input/id.pipe';

class PartDto {
  @Id()
  product_id: number;

  @Whole({ min: 1, max: 1000 })
  quantity: number;
}

export const SMALL = kibibytes(1);

/** One attribute of each kind. */
class ThingDto {
  @Text({ min: 1, max: 5 })
  title: string;

  @Text({ max: 50, multiline: true, optional: true })
  content?: string;

  @Money({ optional: true })
  price?: number;

  @Whole({ default: 0 })
  stock?: number;

  @Text({ min: 2, max: 2, pattern: /[A-Z]+/, message: 'must be capital letters', optional: true })
  country?: string;

  @OneOf(['NEW', 'OLD'], { optional: true })
  status?: string;

  @SomeOf({ RED: 'RED', BLUE: 'BLUE' }, { optional: true })
  tags?: string[];

  @Id({ optional: true, nullable: true })
  parent_id?: number | null;

  @EmailAddress({ optional: true })
  contact?: string;

  @ListOf(() => PartDto, { min: 1, max: 3, optional: true })
  items?: PartDto[];
}

class PatchThingDto extends PartialType(ThingDto, { skipNullProperties: false }) {}

class FindThingsQuery {
  @Text({ min: 1, max: 5, optional: true })
  search?: string;

  /** Not a parameter. */
  get pattern(): string {
    return `%${this.search}%`;
  }
}

/** Answers with what it understood. */
@Controller('things')
@Public()
class ThingsController {
  @Get()
  list(@Query() query: FindThingsQuery): object {
    return query;
  }

  @Get(':id')
  @Answers(ThingDto)
  get(@IdParam() id: number): object {
    return { id, title: 'a thing' };
  }

  @Post()
  create(@Body() input: ThingDto): object {
    return input;
  }

  @Patch(':id')
  update(@IdParam() id: number, @Body() changes: PatchThingDto): object {
    return { id, ...changes };
  }
}

@Controller('notes')
@Public()
@BodyLimit(SMALL)
class NotesController {
  @Post()
  create(@Body() input: ThingDto): object {
    return input;
  }

  @Patch()
  @BodyLimit(2 * SMALL)
  update(@Body() changes: PatchThingDto): object {
    return changes;
  }
}

@Module({ controllers: [ThingsController, NotesController] })
export class ThingsModule {}
