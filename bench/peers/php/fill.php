<?php
// Creates the tables and the market that the peer starts with.

require __DIR__ . '/market.php';

$market = json_decode(file_get_contents(getenv('MARKET')), true);
$database = database();
foreach ([
    'CREATE TABLE users (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0))',
    'CREATE TABLE api_keys (
        id int PRIMARY KEY, hash char(64) CHARACTER SET ascii NOT NULL UNIQUE, user_id int NOT NULL, active bool NOT NULL,
        FOREIGN KEY (user_id) REFERENCES users (id)
    )',
    'CREATE TABLE services (
        id varchar(64) PRIMARY KEY, name varchar(255) NOT NULL, price bigint NOT NULL, min int NOT NULL, max int NOT NULL,
        active bool NOT NULL
    )',
    'CREATE TABLE orders (
        order_id bigint AUTO_INCREMENT PRIMARY KEY, id char(24) CHARACTER SET ascii NOT NULL UNIQUE, user_id int NOT NULL,
        service_id varchar(64) NOT NULL, service_name varchar(255) NOT NULL, link varchar(2048) NOT NULL,
        quantity int NOT NULL, charge bigint NOT NULL, status varchar(16) NOT NULL, remains int NOT NULL,
        created_at bigint NOT NULL, KEY orders_by_user (user_id, order_id),
        FOREIGN KEY (user_id) REFERENCES users (id), FOREIGN KEY (service_id) REFERENCES services (id)
    )',
    'CREATE TABLE ledger (
        id bigint AUTO_INCREMENT PRIMARY KEY, user_id int NOT NULL, amount bigint NOT NULL, kind varchar(16) NOT NULL,
        order_id bigint, key_id int, created_at bigint NOT NULL, UNIQUE KEY ledger_by_order (order_id, kind),
        KEY ledger_by_user (user_id, id), FOREIGN KEY (user_id) REFERENCES users (id),
        FOREIGN KEY (order_id) REFERENCES orders (order_id), FOREIGN KEY (key_id) REFERENCES api_keys (id)
    )',
] as $table) {
    $database->exec($table);
}
$database->beginTransaction();
foreach ($market['keys'] as $index => $key) {
    $id = $index + 1;
    first($database, 'INSERT INTO users VALUES (?, ?)', [$id, $market['balance'] * 1_000_000]);
    first($database, 'INSERT INTO api_keys VALUES (?, ?, ?, true)', [$id, hash('sha256', $key), $id]);
}
for ($index = 0; $index < $market['services']; $index += 1) {
    first($database, 'INSERT INTO services VALUES (?, ?, ?, ?, ?, true)', $index === 0
        ? [$market['service'], $market['service'], (int) round($market['price'] * 1_000_000), 1, 1000]
        : ["service-$index", "Service $index of a catalogue", $index * 1_000_000 + 500_000, 10, 10_000]);
}
$database->commit();
