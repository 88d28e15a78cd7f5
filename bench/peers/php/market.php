<?php
// What the pages and the script that fills the database share.

function database(): PDO
{
    return new PDO('mysql:unix_socket=' . getenv('SOCKET') . ';dbname=peer;charset=utf8mb4', 'root', '', [
        PDO::ATTR_PERSISTENT => true,
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
    ]);
}

function first(PDO $database, string $statement, array $values): ?array
{
    $query = $database->prepare($statement);
    $query->execute($values);
    return $query->fetch() ?: null;
}
