<?php
// PHP 8 behind nginx + MariaDB: no framework, connections to the database that stay, a transaction for each order.

require __DIR__ . '/market.php';

header('content-type: application/json');
$database = database();
$text = $_SERVER['HTTP_X_API_KEY'] ?? '';
if ($text === '') refuse(401, 'X-API-Key header is required');
$key = first($database, 'SELECT id, user_id, active FROM api_keys WHERE hash = ?', [hash('sha256', $text)]);
if ($key === null) refuse(401, 'Invalid API key');
if (!$key['active']) refuse(403, 'API key is inactive');

$method = $_SERVER['REQUEST_METHOD'];
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($method === 'POST' && $path === '/api/v1/orders') {
    placeOrder($database, $key);
} elseif ($path === '/api/v1/balance') {
    $user = first($database, 'SELECT balance FROM users WHERE id = ?', [$key['user_id']]);
    send(['status' => 'success', 'balance' => $user['balance'] / 1e6, 'currency' => 'USD']);
} elseif ($path === '/api/v1/services') {
    $services = $database->query('SELECT * FROM services WHERE active ORDER BY name, id')->fetchAll();
    send(['status' => 'success', 'services' => array_map(serviceShape(...), $services)]);
} elseif (preg_match('#^/api/v1/orders/([0-9a-f]{24})$#', $path, $found)) {
    $order = first($database, 'SELECT * FROM orders WHERE id = ? AND user_id = ?', [$found[1], $key['user_id']]);
    if ($order === null) refuse(404, 'Order not found');
    send(['status' => 'success', 'order' => orderShape($order) + ['startCount' => 0, 'remains' => $order['remains']]]);
} else {
    refuse(404, 'Not found');
}

function placeOrder(PDO $database, array $key): void
{
    $body = json_decode(file_get_contents('php://input'), true);
    $link = trim(is_string($body['link'] ?? null) ? $body['link'] : '');
    $quantity = $body['quantity'] ?? null;
    if (!is_string($body['service'] ?? null) || $body['service'] === '') refuse(400, 'service is required');
    if ($link === '' || strlen($link) > 2048) refuse(400, 'link is required');
    if (!is_int($quantity) || $quantity < 1) refuse(400, 'quantity must be a whole number');
    $statement = 'SELECT id, name, price, min, max FROM services WHERE id = ? AND active';
    $service = first($database, $statement, [$body['service']]);
    if ($service === null) refuse(400, 'Service not found');
    if ($quantity < $service['min']) refuse(400, "Minimum order is {$service['min']}");
    if ($quantity > $service['max']) refuse(400, "Maximum order is {$service['max']}");
    $order = [
        'id' => bin2hex(random_bytes(12)),
        'user_id' => $key['user_id'],
        'service_id' => $service['id'],
        'service_name' => $service['name'],
        'link' => $link,
        'quantity' => $quantity,
        'charge' => intdiv($service['price'] * $quantity + 999, 1000),
        'status' => 'PROCESSING',
        'remains' => $quantity,
        'created_at' => (int) (microtime(true) * 1000),
    ];
    $database->beginTransaction();
    $debit = $database->prepare('UPDATE users SET balance = balance - ? WHERE id = ? AND balance >= ?');
    $debit->execute([$order['charge'], $key['user_id'], $order['charge']]);
    if ($debit->rowCount() === 0) {
        $database->rollBack();
        refuse(400, 'Insufficient balance');
    }
    $database->prepare(
        'INSERT INTO orders (id, user_id, service_id, service_name, link, quantity, charge, status, remains, created_at)
         VALUES (:id, :user_id, :service_id, :service_name, :link, :quantity, :charge, :status, :remains, :created_at)'
    )->execute($order);
    $order['order_id'] = (int) $database->lastInsertId();
    $entry = [$key['user_id'], -$order['charge'], 'order', $order['order_id'], $key['id'], $order['created_at']];
    $database->prepare(
        'INSERT INTO ledger (user_id, amount, kind, order_id, key_id, created_at) VALUES (?, ?, ?, ?, ?, ?)'
    )->execute($entry);
    $database->commit();
    send(['status' => 'success', 'order' => orderShape($order)]);
}

function orderShape(array $order): array
{
    return [
        'id' => $order['id'],
        'orderId' => $order['order_id'],
        'service' => $order['service_name'],
        'link' => $order['link'],
        'quantity' => $order['quantity'],
        'charge' => $order['charge'] / 1e6,
        'status' => $order['status'],
        'createdAt' => gmdate('Y-m-d\TH:i:s.', intdiv($order['created_at'], 1000)) . sprintf('%03dZ', $order['created_at'] % 1000),
    ];
}

function serviceShape(array $service): array
{
    return ['price' => $service['price'] / 1e6] + array_intersect_key($service, ['id' => 0, 'name' => 0, 'min' => 0, 'max' => 0]);
}

function send(array $response): void
{
    echo json_encode($response, JSON_UNESCAPED_SLASHES);
}

function refuse(int $status, string $message): never
{
    http_response_code($status);
    send(['status' => 'error', 'message' => $message]);
    exit;
}
