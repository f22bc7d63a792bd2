import {
  All,
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Module,
  Param,
  ParseBoolPipe,
  ParseEnumPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import {
  ApiBasicAuth,
  ApiBearerAuth,
  ApiBody,
  ApiExcludeController,
  ApiExcludeEndpoint,
  ApiExtraModels,
  ApiHeader,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Response } from 'express';
import {
  Answers,
  AnswersPage,
  Creates,
  IdParam,
  KeyParam,
  Page,
  Public,
  Role,
  Roles,
  Verbatim,
} from '../../../src/platform';
import { declareSecurity } from '../../../src/platform/features';
import {
  BranchDto,
  Cat,
  CatDto,
  DogDto,
  FewPetsQuery,
  Grade,
  HouseholdDto,
  Kind,
  ListBranchesQuery,
  NewPetDto,
  OwnerDto,
  OwnerWithAddressDto,
  PartOfOwnerDto,
  PatchPetDto,
  PetDto,
  PetParams,
  PetWithoutPriceDto,
  PluginDto,
} from './pet-dtos';

declareSecurity('api-key', { type: 'apiKey', in: 'header', name: 'X-API-Key' });
declareSecurity('basic', { type: 'http', scheme: 'basic' });

@ApiTags('Pets')
@Controller('house-pets')
@Public()
@ApiExtraModels(CatDto, DogDto, Cat)
class HousePetsController {
  @Get()
  @AnswersPage(PetDto)
  list(@Query() _: FewPetsQuery): Page<object> {
    return new Page<object>([], { page: 0, size: 20, total: 0, totalPages: 0 });
  }

  @Get('branches')
  @AnswersPage(BranchDto)
  branches(@Query() _: ListBranchesQuery): Page<object> {
    return new Page<object>([], { page: 0, size: 20, total: 0, totalPages: 0 });
  }

  @Get('by-number/:number')
  byNumber(@Param('number', ParseIntPipe) number: number): object {
    return { number };
  }

  @Get('by-uuid/:uuid')
  byUuid(@Param('uuid', new ParseUUIDPipe({ version: '4' })) uuid: string): object {
    return { uuid };
  }

  @Get('by-kind/:kind/:grade')
  byKind(@Param('kind', new ParseEnumPipe(Kind)) kind: Kind, @Param('grade', new ParseEnumPipe(Grade)) grade: Grade) {
    return { kind, grade };
  }

  @Get('by-flag/:flag')
  byFlag(@Param('flag', ParseBoolPipe) flag: boolean): object {
    return { flag };
  }

  @Get('by-text/:text')
  byText(@Param('text') text: string): object {
    return { text };
  }

  @Get('by-anything/:one/:other')
  byAnything(@Param() all: Record<string, string>): object {
    return all;
  }

  @Get('by-both/:kind/:name')
  byBoth(@Param() params: PetParams): object {
    return params;
  }

  @Get('by-code/:code')
  @ApiParam({ name: 'code', schema: { type: 'string', pattern: '^[A-Z]{3}$' }, example: 'ABC', description: 'A code.' })
  byCode(@Param('code') code: string): object {
    return { code };
  }

  @Get('by-country/:country')
  @ApiParam({ name: 'country', enum: ['CH', 'DE'], description: 'Where it lives.' })
  byCountry(@Param('country') country: string): object {
    return { country };
  }

  @Get('by-key/:key')
  byKey(@KeyParam() key: string): object {
    return { key };
  }

  @Get('plugin')
  @Answers(PluginDto)
  plugin(): PluginDto {
    return { id: 1, nickname: 'x' };
  }

  @Get('by-hand/:id')
  @ApiOperation({ operationId: 'readByHand', summary: 'By hand' })
  @ApiOkResponse({ type: OwnerDto })
  @ApiNotFoundResponse({ description: 'Nobody has it.' })
  @ApiResponse({ status: 418, description: 'A teapot.', schema: { type: 'object', additionalProperties: true } })
  byHand(@IdParam() id: number): object {
    return { name: `number ${id}` };
  }

  @Get('in-a-list')
  @ApiOkResponse({ type: [OwnerDto], description: 'All of them.' })
  inAList(): OwnerDto[] {
    return [{ name: 'Ada' }];
  }

  @Get('itself')
  @ApiOkResponse({ description: 'As it is.', type: OwnerDto })
  itself(@Res() response: Response): void {
    response.json({ name: 'Ada' });
  }

  @Get('verbatim')
  @ApiOkResponse({ description: 'As it is.', type: OwnerDto })
  verbatim(): Verbatim {
    return new Verbatim({ name: 'Ada' });
  }

  @Post()
  @Creates(PetDto)
  create(@Body() input: NewPetDto): object {
    return { id: 1, ...input };
  }

  @Patch(':id')
  @Answers(PetDto)
  update(@IdParam() id: number, @Body() changes: PatchPetDto): object {
    return { id, ...changes };
  }

  @Put('owners')
  @HttpCode(200)
  @ApiOkResponse({ type: OwnerWithAddressDto, description: 'The owner.' })
  owner(@Body() input: OwnerWithAddressDto): object {
    return input;
  }

  @Patch('owners/:id')
  @ApiOkResponse({ type: PetWithoutPriceDto, description: 'The owner.' })
  patchOwner(@IdParam() _: number, @Body() input: PartOfOwnerDto): object {
    return input;
  }

  @Put('households')
  @HttpCode(200)
  @ApiOkResponse({ type: HouseholdDto, description: 'The household.' })
  household(@Body() input: HouseholdDto): object {
    return input;
  }

  @Put('animals')
  @HttpCode(200)
  @ApiBody({
    schema: { oneOf: [{ $ref: getSchemaPath(CatDto) }, { $ref: getSchemaPath(DogDto) }] },
    examples: { cat: { value: { type: 'CAT', lives: 9 } } },
  })
  animal(@Body() input: object): object {
    return input;
  }

  @Get('asking')
  @ApiQuery({ name: 'colour', required: false, enum: ['red', 'blue'], description: 'The colour.', example: 'red' })
  @ApiHeader({ name: 'X-Shop', description: 'The shop.', example: 'bern' })
  asking(@Query('colour') colour?: string, @Headers('x-shop') shop?: string): object {
    return { colour, shop };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiExcludeEndpoint()
  remove(@IdParam() _: number): void {}

  @Get(['first-name', 'second-name'])
  aliases(): object {
    return {};
  }
}

@Controller('secured-pets')
class SecuredPetsController {
  @Get('key')
  @Public()
  @ApiSecurity('api-key')
  byKey(): object {
    return {};
  }

  @Get('both')
  @Roles(Role.ADMIN)
  @ApiBasicAuth()
  @ApiOperation({ operationId: 'bothSecured' })
  both(): object {
    return {};
  }

  @Get('bearer')
  @Public()
  @ApiBearerAuth()
  bearer(): object {
    return {};
  }

  @Get('roles')
  @Roles(Role.USER)
  @ApiBearerAuth()
  roles(): object {
    return {};
  }

  @All('any')
  @Roles(Role.ADMIN)
  any(): object {
    return {};
  }
}

@Controller('hidden-pets')
@ApiExcludeController()
@Public()
class HiddenPetsController {
  @Get()
  list(): object {
    return {};
  }
}

const controllers = [HousePetsController, SecuredPetsController, HiddenPetsController];
@Module({ controllers })
export class PetsModule {}
