<?php
// Receives webhooks and accepts only those with a valid signature. PHP 8, no extension needed:
// php -S 127.0.0.1:$PORT webhook.php

if (!getenv('WEBHOOK_SECRET')) {
    http_response_code(500);
    exit("Set WEBHOOK_SECRET (whsec_…, shown when the webhook was made).\n");
}

/** Whether the service signed these bytes within the last five minutes. */
function isGenuine(string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(str_replace('whsec_', '', getenv('WEBHOOK_SECRET')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // Two signatures while the secret is being replaced.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

function handle(array $event): void
{
    $text = $event['type'];
    if (str_starts_with($text, 'order.')) {
        // An event may come twice, or after a later one: compare with the highest $event['data']['sequence'] of an order,
        // which belongs in your database.
        $order = $event['data']['order'];
        $text = "order {$order['orderId']} is {$order['status']}";
    }
    file_put_contents('php://stdout', "$text\n");
}

// The bytes as received: JSON that is parsed and written again has another signature.
$body = file_get_contents('php://input');
$genuine = isGenuine($body);
if ($genuine) {
    handle(json_decode($body, true));
}
http_response_code($genuine ? 204 : 401);
