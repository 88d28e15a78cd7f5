<?php
// Places an order, then reads it. PHP 8, no extension needed.

if (!getenv('RESELLER_URL') || !getenv('RESELLER_KEY')) {
    fwrite(STDERR, "Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).\n");
    exit(2);
}

/** Sends one request until it is answered: its Idempotency-Key is the same for all tries. */
function call(string $method, string $path, ?array $body = null): array
{
    $headers = ['x-api-key: ' . getenv('RESELLER_KEY'), 'Content-Type: application/json'];
    if ($method === 'POST') {
        $headers[] = 'Idempotency-Key: ' . bin2hex(random_bytes(16));
    }
    $context = stream_context_create(['http' => [
        'method' => $method,
        'header' => $headers,
        'content' => $body ? json_encode($body) : '',
        'ignore_errors' => true,
        'timeout' => 60,
    ]]);
    for ($attempt = 1; $attempt <= 5; $attempt++) {
        $text = @file_get_contents(getenv('RESELLER_URL') . '/api/v1' . $path, false, $context);
        $status = $text === false ? 0 : (int) explode(' ', $http_response_header[0])[1];
        if (!in_array($status, [0, 429, 500, 503])) {
            $answer = json_decode($text, true);
            if ($status === 200) {
                return $answer;
            }
            exit("{$answer['code']}: {$answer['message']}\n");
        }
        usleep((int) (2 ** $attempt * 250_000));
    }
    exit("no answer\n");
}

$order = call('POST', '/orders', [
    'service' => 'instagram-followers',
    'link' => 'https://example.com/me',
    'quantity' => 1000,
])['order'];
$read = call('GET', "/orders/{$order['orderId']}");
echo "order {$order['orderId']} is {$read['order']['status']}, charged {$order['charge']} USD\n";
