import { Controller, Get, Header, Module } from '@nestjs/common';

@Controller('public')
export class PublicController {
  @Get()
  @Header('Content-Type', 'text/plain; charset=utf-8')
  get(): string {
    return 'Hello from the public resource.';
  }
}

@Module({ controllers: [PublicController] })
export class PublicModule {}
