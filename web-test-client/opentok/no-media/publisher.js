export class Publisher {}
