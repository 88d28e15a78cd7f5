<?php
// Places an order, then reads it. PHP 8, no extension needed.

if (!getenv('RESELLER_URL') || !getenv('RESELLER_KEY')) {
    fwrite(STDERR, "Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).\n");
    exit(2);
}
$file = getenv('RESELLER_PENDING') ?: 'pending-order.json';

function fail(string $message): void
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/** Sends a request until the API answers it. Anything else, such as a proxy's 502, is no answer: the request may have arrived. */
function call(string $method, string $path, ?string $key = null, ?array $body = null): array
{
    $headers = ['x-api-key: ' . getenv('RESELLER_KEY'), 'Content-Type: application/json'];
    if ($key !== null) {
        $headers[] = "Idempotency-Key: $key";
    }
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => $headers,
        'content' => $body ? json_encode($body) : '',
        'ignore_errors' => true,
        'follow_location' => 0,
        'timeout' => 60,
    ]]);
    for ($attempt = 1; $attempt <= 5; $attempt++) {
        unset($http_response_header);
        $text = @file_get_contents(getenv('RESELLER_URL') . '/api/v1' . $path, false, $context);
        $received = $http_response_header ?? [];
        $status = (int) (explode(' ', $received[0] ?? '')[1] ?? 0);
        $answer = json_decode((string) $text, true);
        $isAnswer = isset($answer[($answer['status'] ?? '') === 'error' ? 'code' : 'order']);
        if ($isAnswer && !in_array($status, [429, 500, 503])) {
            return ['http' => $status] + $answer;
        }
        $after = preg_grep('/^retry-after: *\d+$/i', $received);
        $seconds = $after ? min((int) explode(':', end($after))[1], 60) : 2 ** $attempt / 4;
        if ($attempt < 5) {
            usleep((int) ($seconds * 1_000_000));
        }
    }
    $next = $key !== null
        ? 'Run this again: it sends the same request.'
        : 'The order is placed: read it later, do not place it again.';
    fail('No answer yet (' . ($status ? "HTTP $status" : 'no response') . "). $next");
}

// All tries send the same request with the same Idempotency-Key. Both stay in a file until the outcome is known, even if
// this program is stopped. In your program, keep them in its database.
if (!file_exists($file)) {
    $body = ['service' => 'instagram-followers', 'link' => 'https://example.com/me', 'quantity' => 1000];
    file_put_contents("$file.new", json_encode(['key' => bin2hex(random_bytes(16)), 'body' => $body]));
    rename("$file.new", $file);
}
$pending = json_decode(file_get_contents($file), true);
$placed = call('POST', '/orders', $pending['key'], $pending['body']);
// A refused key does not show whether an earlier try arrived.
if (!in_array($placed['http'], [401, 403])) {
    unlink($file);
}
if ($placed['status'] === 'error') {
    fail("{$placed['code']}: {$placed['message']}");
}
$order = $placed['order'];
echo "order {$order['orderId']} is placed, charged {$order['charge']} USD\n";
$read = call('GET', "/orders/{$order['orderId']}");
$state = $read['order']['status'] ?? $read['code'];
echo "order {$order['orderId']} is $state\n";
