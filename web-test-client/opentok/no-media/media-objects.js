export class Subscriber {}
