<?php
// Orders as a panel does, by /api/v2, then reads the order's status. PHP 8, no extension needed.

if (!getenv('RESELLER_URL') || !getenv('RESELLER_KEY')) {
    fwrite(STDERR, "Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).\n");
    exit(2);
}

/** Sends one form. Business errors come with status 200 and a member `error`; the others changed nothing, or say 500. */
function panel(string $action, array $fields = []): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: application/x-www-form-urlencoded',
        'content' => http_build_query(['key' => getenv('RESELLER_KEY'), 'action' => $action] + $fields),
        'ignore_errors' => true,
        'timeout' => 60,
    ]]);
    for ($attempt = 1; $attempt <= 5; $attempt++) {
        $text = @file_get_contents(getenv('RESELLER_URL') . '/api/v2', false, $context);
        $status = $text === false ? 0 : (int) explode(' ', $http_response_header[0])[1];
        if (!in_array($status, [0, 429, 500, 503])) {
            $answer = json_decode($text, true);
            if (isset($answer['error'])) {
                exit("{$answer['error']}\n");
            }
            return $answer;
        }
        usleep((int) (2 ** $attempt * 250_000));
    }
    exit("no answer\n");
}

foreach (panel('services') as $service) {
    $unit = $service['type'] === 'Package' ? 'for all of it' : 'for 1000';
    echo "{$service['service']}: {$service['name']}, {$service['rate']} USD $unit\n";
}
// With a reference of your own the order is placed once, however often it is sent.
$order = panel('add', [
    'service' => 1,
    'link' => 'https://example.com/me',
    'quantity' => 1000,
    'reference' => bin2hex(random_bytes(16)),
])['order'];
$status = panel('status', ['order' => $order]);
echo "order $order is {$status['status']}, charged {$status['charge']} {$status['currency']}\n";
