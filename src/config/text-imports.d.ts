declare module "*.sql" {
  const text: string;
  export default text;
}

declare module "*.csv" {
  const text: string;
  export default text;
}

declare module "*.css" {
  const text: string;
  export default text;
}

declare module "*.client.js" {
  const text: string;
  export default text;
}

declare module "*/samples/order.sh" {
  const text: string;
  export default text;
}

declare module "*/samples/order.mjs" {
  const text: string;
  export default text;
}

declare module "*/samples/order.py" {
  const text: string;
  export default text;
}

declare module "*/samples/order.php" {
  const text: string;
  export default text;
}

declare module "*/samples/panel.php" {
  const text: string;
  export default text;
}

declare module "*/samples/webhook.mjs" {
  const text: string;
  export default text;
}

declare module "*/samples/webhook.py" {
  const text: string;
  export default text;
}

declare module "*/samples/webhook.php" {
  const text: string;
  export default text;
}

declare module "*/assets/common-passwords.txt" {
  const text: string;
  export default text;
}
